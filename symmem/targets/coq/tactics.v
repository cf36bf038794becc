(** * Tactics: a closed form is checked by [field], with every power of n as a generator. *)

Lemma bias : forall b n, -1 < b < 1 -> 1 - b ^ (S n) <> 0.
Proof.
  intros b n B E. assert (P : b ^ (S n) = 1) by lra.
  assert (A : Rabs (b ^ (S n)) < 1).
  { rewrite <- RPow_abs. apply pow_lt_1_compat; [split; [apply Rabs_pos | apply Rabs_def1; lra] | lia]. }
  rewrite P, Rabs_R1 in A. lra.
Qed.

Lemma bias_positive : forall b m, -1 < b < 1 -> (1 <= m)%nat -> 0 < 1 - b ^ m.
Proof.
  intros b m B L. assert (A : Rabs (b ^ m) < 1).
  { rewrite <- RPow_abs. apply pow_lt_1_compat; [split; [apply Rabs_pos | apply Rabs_def1; lra] | lia]. }
  pose proof (Rle_abs (b ^ m)). lra.
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

Lemma size_is : forall A B, 0 <= B -> B ^ 2 = A ^ 2 -> Rabs A = B.
Proof. intros A B N E. rewrite <- (Rabs_pos_eq B N). apply Rsqr_eq_abs_0. rewrite !Rsqr_pow2. symmetry. exact E. Qed.

Lemma INR_none : INR 0 = 0.
Proof. reflexivity. Qed.

Ltac powers :=
  repeat (rewrite ?Nat.add_0_r, ?Nat.mul_1_l, ?S_INR, ?pow_add, ?pow_mult, ?pow_O, ?INR_none; cbn [pow]).

Ltac powers_in D :=
  repeat (rewrite ?Nat.add_0_r, ?Nat.mul_1_l, ?S_INR, ?pow_add, ?pow_mult, ?pow_O, ?INR_none in D; cbn [pow] in D).

Ltac same e d := first [replace e with d by ring | replace e with (- d) by ring; apply Ropp_neq_0_compat].

(** A rational multiple of what is known not to be zero, such as [10 - 9 * (9 / 10) ^ n]. *)
Ltac multiple_of :=
  match goal with
  | D : forall m : nat, _ <> 0, n : nat |- _ <> 0 =>
      solve [ let T := fresh in let Z := fresh in pose proof (D n) as T; revert T; powers; intros T Z; apply T; lra ]
  | D : _ <> 0 |- _ <> 0 =>
      solve [ let T := fresh in let Z := fresh in pose proof D as T; revert T; powers; intros T Z; apply T; lra ]
  end.

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
            solve [ replace e with (d * x) by (field; assumption);
                    apply Rmult_integral_contrapositive_currified; assumption
                  | replace e with (d * (x * x)) by (field; assumption);
                    repeat apply Rmult_integral_contrapositive_currified; assumption ] end
        | apply pow_nonzero; unlike_zero
        | apply root_apart; assumption
        | multiple_of
        | match goal with |- context [?q ^ ?m] =>
            solve [ let P := fresh in let Z := fresh in
                    pose proof (pow_R1_Rle q m ltac:(lra)) as P; intro Z; lra ] end ]
  | |- True => exact I
  end.

Ltac closes := cbv beta; powers; first [reflexivity | field; unlike_zero | ring].

Lemma power_in : forall b m, 0 <= b < 1 -> 0 <= b ^ m <= 1.
Proof.
  intros b m B. split; [apply pow_le; lra|]. rewrite <- (pow1 m). apply pow_incr. lra.
Qed.

Lemma inverse_in : forall q m, 1 <= q -> 0 < / q ^ m <= 1.
Proof.
  intros q m Q. pose proof (pow_R1_Rle q m Q) as L. split; [apply Rinv_0_lt_compat; lra|].
  rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
Qed.

Ltac by_bias :=
  match goal with
  | |- context [?b ^ ?m] => solve [pose proof (bias_positive b m ltac:(lra) ltac:(lia)); lra]
  | |- context [?b ^ ?m] => solve [pose proof (power_in b m ltac:(lra)); lra]
  | |- context [?q ^ ?m] =>
      solve [pose proof (inverse_in q m ltac:(lra)); unfold Rdiv; rewrite ?Rinv_mult; lra]
  end.

Ltac nonneg :=
  first
    [ lra | by_bias | assumption | apply pow2_ge_0 | apply Rabs_pos | apply sqrt_pos | left; apply bias_positive; [lra | lia]
    | apply Rplus_le_le_0_compat; nonneg | apply pow_le; nonneg
    | left; apply Rinv_0_lt_compat; positive | unfold Rdiv; apply Rmult_le_pos; nonneg ]
with positive :=
  first
    [ lra | by_bias | assumption | apply bias_positive; [lra | lia] | apply Rplus_lt_le_0_compat; [positive | nonneg]
    | apply Rplus_le_lt_0_compat; [nonneg | positive] | apply pow_lt; positive
    | apply sqrt_lt_R0; positive | apply Rinv_0_lt_compat; positive
    | unfold Rdiv; apply Rmult_lt_0_compat; positive | nra ].

(** The same where roots and sizes are generators, known by their squares: what is not zero, in the same words. *)
Ltac apart_in := repeat match goal with D : _ <> 0 |- _ => progress powers_in D end.

Ltac forgotten := repeat match goal with E : _ = _ |- _ => clear E end.

(** [r = sqrt (p / q)] by the root of [p q], which has no denominator. *)
Ltac whole r square unlike p q :=
  let scaled := fresh "scaled" in
  let E := fresh in
  let U := fresh in
  remember (r * q) as scaled eqn:E;
  assert (U : q <> 0) by (apart_in; powers; unlike_zero);
  assert (r = scaled / q) by (rewrite E; field; first [exact U | apart_in; powers; unlike_zero]);
  assert (scaled <> 0) by (rewrite E; apply Rmult_integral_contrapositive_currified; assumption);
  assert (scaled ^ 2 = p * q) by (rewrite E, Rpow_mult_distr, square; powers; apart_in; field; unlike_zero);
  clear E square unlike; subst r; match goal with S : scaled ^ 2 = _ |- _ => rename S into square end.

(** A root and a size on the frozen point in the form in which the engine writes it: by its square. *)
Ltac frozen_root := apply root_is; [| rewrite ?Rpow_mult_distr, ?size_squared, ?root_squared by positive].
Ltac frozen_size := apply size_is; [| rewrite ?Rpow_mult_distr].
Ltac frozen_factors :=
  unfold Rdiv; rewrite ?Rabs_mult, ?Rabs_Ropp, ?Rabs_inv;
  repeat match goal with |- context [Rabs ?x] => rewrite (Rabs_pos_eq x) by nonneg end; closes.
