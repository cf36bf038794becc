(** * The identities behind a modified loss, for every loss of two variables, by formal derivatives. *)
Module Potentials.

(** [J p q] is the derivative of the loss, p times in x and q times in y; [X a] a coordinate. *)
Inductive term :=
  | J (p q : nat) | X (a : bool) | Number (c : R) | Plus (s t : term) | Times (s t : term).

Fixpoint D (a : bool) (t : term) : term :=
  match t with
  | J p q => if a then J (S p) q else J p (S q)
  | X b => Number (if Bool.eqb a b then 1 else 0)
  | Number _ => Number 0
  | Plus s t => Plus (D a s) (D a t)
  | Times s t => Plus (Times (D a s) t) (Times s (D a t))
  end.

Fixpoint power (t : term) (m : nat) : term :=
  match m with O => Number 1 | S k => Times t (power t k) end.

Section Identities.
Variables (j : nat -> nat -> R) (x : bool -> R).

Fixpoint value (t : term) : R :=
  match t with
  | J p q => j p q
  | X a => x a
  | Number c => c
  | Plus s t => value s + value t
  | Times s t => value s * value t
  end.

Definition loss := J 0 0.
Definition g (a : bool) := D a loss.
Definition both (f : bool -> term) := Plus (f true) (f false).
Definition D2 (u : bool -> term) (a : bool) := both (fun b => Times (D b (g a)) (u b)).
Definition D3 (u v : bool -> term) (a : bool) :=
  both (fun c => Times (both (fun b => Times (D c (D b (g a))) (u b))) (v c)).
Definition D4 (u v w : bool -> term) (a : bool) :=
  both (fun d => Times (both (fun c => Times (both (fun b =>
    Times (D d (D c (D b (g a)))) (u b))) (v c))) (w d)).
Definition dot (u v : bool -> term) := both (fun a => Times (u a) (v a)).
Definition half := Number (1 / 2).
Definition sixth := Number (1 / 6).

Ltac by_ring := intros []; cbv -[Rplus Rmult Rdiv Rinv Ropp Rminus IZR INR]; field.

Theorem quadratic_term : forall a,
  value (Plus (D2 (D2 g) a) (Times half (D3 g g a))) = value (D a (Times half (dot g (D2 g)))).
Proof. by_ring. Qed.

Theorem square_of_Hg : forall a,
  value (Plus (D2 (D2 (D2 g)) a) (D3 g (D2 g) a)) = value (D a (Times half (dot (D2 g) (D2 g)))).
Proof. by_ring. Qed.

Theorem cubic_term : forall a,
  value (Plus (Times half (D2 (D3 g g) a)) (Times sixth (D4 g g g a)))
  = value (D a (Times sixth (dot g (D3 g g)))).
Proof. by_ring. Qed.

Theorem decay_term : forall a,
  value (D2 X a) = value (D a (Plus (dot g X) (Times (Number (-1)) loss))).
Proof. by_ring. Qed.

Lemma power_rule : forall t a m, value (D a (power t (S m))) = (INR m + 1) * value (power t m) * value (D a t).
Proof.
  intros t a m. induction m as [|m IH]; [simpl; ring|].
  change (value (D a (power t (S (S m))))) with
    (value (D a t) * value (power t (S m)) + value t * value (D a (power t (S m)))).
  rewrite IH, S_INR. simpl. ring.
Qed.

(** [D2L f(grad) = grad sum_i A(d_i L)] with A' = f, for f(x) = x^m, and so for every polynomial. *)
Theorem function_of_gradient : forall a m,
  value (D2 (fun b => power (g b) m) a)
  = / (INR m + 1) * value (D a (both (fun b => power (g b) (S m)))).
Proof.
  intros a m. assert (P : INR m + 1 <> 0) by (pose proof (pos_INR m); lra).
  change (value (D a (both (fun b => power (g b) (S m))))) with
    (value (D a (power (g true) (S m))) + value (D a (power (g false) (S m)))).
  rewrite !power_rule. destruct a; simpl; field; exact P.
Qed.
End Identities.
End Potentials.
