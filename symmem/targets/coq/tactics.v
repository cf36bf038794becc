(** * Tactics: a closed form is checked by [field], with every power of n as a generator. *)

Lemma bias : forall b n, -1 < b < 1 -> 1 - b ^ (S n) <> 0.
Proof.
  intros b n B E. assert (P : b ^ (S n) = 1) by lra.
  assert (A : Rabs (b ^ (S n)) < 1).
  { rewrite <- RPow_abs. apply pow_lt_1_compat; [split; [apply Rabs_pos | apply Rabs_def1; lra] | lia]. }
  rewrite P, Rabs_R1 in A. lra.
Qed.

Lemma bias_positive : forall b n, -1 < b < 1 -> 0 < 1 - b ^ (n + 1).
Proof.
  intros b n B. replace (n + 1)%nat with (S n) by lia.
  assert (A : Rabs (b ^ (S n)) < 1).
  { rewrite <- RPow_abs. apply pow_lt_1_compat; [split; [apply Rabs_pos | apply Rabs_def1; lra] | lia]. }
  pose proof (Rle_abs (b ^ (S n))). lra.
Qed.

(** One root, by its square: [B] is the form in which the engine writes it. *)
Lemma root_is : forall A B, 0 <= B -> B ^ 2 = A -> sqrt A = B.
Proof. intros A B N E. rewrite <- E. apply sqrt_pow2, N. Qed.

Lemma root_squared : forall q, 0 < q -> sqrt q ^ 2 = q.
Proof. intros q P. rewrite <- Rsqr_pow2. apply Rsqr_sqrt. lra. Qed.

Lemma root_apart : forall q, 0 < q -> sqrt q <> 0.
Proof. intros q P. apply Rgt_not_eq, sqrt_lt_R0, P. Qed.

Lemma size_squared : forall x, Rabs x ^ 2 = x ^ 2.
Proof. intros x. apply pow2_abs. Qed.

Lemma INR_none : INR 0 = 0.
Proof. reflexivity. Qed.

Ltac powers :=
  repeat (rewrite ?Nat.add_0_r, ?Nat.mul_1_l, ?S_INR, ?pow_add, ?pow_mult, ?pow_O, ?INR_none; cbn [pow]).

Ltac powers_in D :=
  repeat (rewrite ?Nat.add_0_r, ?Nat.mul_1_l, ?S_INR, ?pow_add, ?pow_mult, ?pow_O, ?INR_none in D; cbn [pow] in D).

Ltac same e d := first [replace e with d by ring | replace e with (- d) by ring; apply Ropp_neq_0_compat].

Ltac unlike_zero :=
  match goal with
  | |- _ /\ _ => split; unlike_zero
  | |- ?e <> 0 =>
      first
        [ assumption
        | lra
        | match goal with D : ?d <> 0 |- _ => solve [same e d; exact D] end
        | match goal with D : ?d <> 0 |- _ =>
            solve [ let T := fresh in pose proof D as T; revert T; powers; intro T;
                    match type of T with ?d <> 0 => same e d; exact T end ] end
        | match goal with D : forall m : nat, _ <> 0, n : nat |- _ =>
            solve [ let T := fresh in pose proof (D n) as T; revert T; powers; intro T;
                    match type of T with ?d <> 0 => same e d; exact T end
                  | let T := fresh in pose proof (D (S n)) as T; revert T; powers; intro T;
                    match type of T with ?d <> 0 => same e d; exact T end ] end
        | apply Rmult_integral_contrapositive_currified; unlike_zero
        | match goal with D : ?d <> 0, X : ?x <> 0 |- _ =>
            solve [replace e with (d * x) by (field; assumption);
                   apply Rmult_integral_contrapositive_currified; assumption] end
        | apply pow_nonzero; unlike_zero
        | apply root_apart; assumption ]
  | |- True => exact I
  end.

Ltac closes := cbv beta; powers; first [reflexivity | field; unlike_zero | ring].

Ltac nonneg :=
  first
    [ lra | assumption | apply pow2_ge_0 | apply Rabs_pos | apply sqrt_pos | left; apply bias_positive; lra
    | apply Rplus_le_le_0_compat; nonneg | apply pow_le; nonneg
    | left; apply Rinv_0_lt_compat; positive | unfold Rdiv; apply Rmult_le_pos; nonneg ]
with positive :=
  first
    [ lra | assumption | apply bias_positive; lra | apply Rplus_lt_le_0_compat; [positive | nonneg]
    | apply Rplus_le_lt_0_compat; [nonneg | positive] | apply pow_lt; positive
    | apply sqrt_lt_R0; positive | apply Rinv_0_lt_compat; positive
    | unfold Rdiv; apply Rmult_lt_0_compat; positive | nra ].

(** The same where roots and sizes are generators, known by their squares. *)
Ltac assembled0 := closes.
Ltac assembled1 D := powers_in D; powers; field [D]; unlike_zero.
Ltac assembled2 D E := powers_in D; powers_in E; powers; field [D E]; unlike_zero.
Ltac assembled3 D E F := powers_in D; powers_in E; powers_in F; powers; field [D E F]; unlike_zero.

(** A root on the frozen point in the form in which the engine writes it. *)
Ltac frozen_root :=
  first
    [ reflexivity
    | f_equal; closes
    | apply root_is; [nonneg | rewrite ?Rpow_mult_distr, ?size_squared; closes]
    | apply root_is; [nonneg | rewrite ?Rpow_mult_distr, ?size_squared, ?root_squared by positive; closes] ].

(** The same for a size. *)
Ltac frozen_size :=
  first
    [ reflexivity
    | f_equal; closes
    | rewrite ?Rabs_mult; repeat match goal with |- context [Rabs ?x] => rewrite (Rabs_pos_eq x) by nonneg end; closes ].
