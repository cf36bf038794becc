(** * Limits of many steps: what is left of the start fades like a power of the slowest decay. *)

Definition fades (f c x : R) : Prop := Rabs f <= c * x.

Lemma fades_plus : forall f g c d x, fades f c x -> fades g d x -> fades (f + g) (c + d) x.
Proof.
  unfold fades. intros f g c d x P Q. eapply Rle_trans; [apply Rabs_triang|]. lra.
Qed.

Lemma fades_nothing : forall x, fades 0 0 x.
Proof. unfold fades. intros x. rewrite Rabs_R0. lra. Qed.

Lemma fades_term : forall k p y q x, Rabs p <= x -> Rabs y <= q -> fades (k * (p * y)) (Rabs k * q) x.
Proof.
  unfold fades. intros k p y q x P Y. rewrite !Rabs_mult.
  pose proof (Rabs_pos k). pose proof (Rabs_pos p). pose proof (Rabs_pos y).
  rewrite Rmult_assoc. apply Rmult_le_compat_l; [assumption|]. rewrite (Rmult_comm q).
  apply Rmult_le_compat; assumption.
Qed.

Lemma one_is_one : Rabs 1 <= 1.
Proof. rewrite Rabs_R1. lra. Qed.

Lemma power_below_one : forall b n r, -1 < b < 1 -> Rabs r <= 1 -> Rabs (b ^ n * r) <= 1.
Proof.
  intros b n r B A. rewrite Rabs_mult, <- RPow_abs.
  assert (P : Rabs b ^ n <= 1 ^ n) by (apply pow_incr; split; [apply Rabs_pos | apply Rabs_le; lra]).
  rewrite pow1 in P. pose proof (Rabs_pos r). pose proof (pow_le (Rabs b) n (Rabs_pos b)).
  rewrite <- (Rmult_1_r 1). apply Rmult_le_compat; assumption.
Qed.

Lemma power_below : forall b rho n r, Rabs b <= rho -> Rabs r <= 1 -> Rabs (b ^ n * r) <= rho ^ n.
Proof.
  intros b rho n r B A. rewrite Rabs_mult, <- RPow_abs.
  assert (P : Rabs b ^ n <= rho ^ n) by (apply pow_incr; split; [apply Rabs_pos | assumption]).
  pose proof (Rabs_pos r). pose proof (pow_le (Rabs b) n (Rabs_pos b)).
  rewrite <- (Rmult_1_r (rho ^ n)). apply Rmult_le_compat; assumption.
Qed.

Lemma sign_below : forall n r x, Rabs r <= x -> Rabs ((-1) ^ n * r) <= x.
Proof.
  intros n r x A. rewrite Rabs_mult, <- RPow_abs. replace (Rabs (-1)) with 1 by (rewrite Rabs_left; lra).
  rewrite pow1. lra.
Qed.

Lemma bias_below : forall b n c y q, -1 < b < 1 -> (1 <= c)%nat -> Rabs y <= q ->
  Rabs (/ (1 - b ^ (n + c)) * y) <= / (1 - Rabs b) * q.
Proof.
  intros b n c y q B C Y. remember (n + c - 1)%nat as m eqn:E. replace (n + c)%nat with (S m) by lia. clear E.
  assert (A : Rabs b < 1) by (apply Rabs_def1; lra).
  assert (P : Rabs (b ^ S m) <= Rabs b).
  { rewrite <- RPow_abs. simpl. rewrite <- (Rmult_1_r (Rabs b)) at 3.
    apply Rmult_le_compat_l; [apply Rabs_pos|].
    assert (E : Rabs b ^ m <= 1 ^ m) by (apply pow_incr; split; [apply Rabs_pos | lra]).
    rewrite pow1 in E. exact E. }
  pose proof (Rle_abs (b ^ S m)). pose proof (Rabs_pos y).
  rewrite Rabs_mult, Rabs_inv, (Rabs_pos_eq (1 - b ^ S m)) by lra.
  apply Rmult_le_compat; [left; apply Rinv_0_lt_compat; lra | assumption | | assumption].
  apply Rinv_le_contravar; lra.
Qed.

Ltac fade :=
  match goal with
  | |- fades (_ + _) _ _ => apply fades_plus; fade
  | |- fades 0 _ _ => apply fades_nothing
  | |- fades _ _ _ => apply fades_term; fade
  | |- Rabs 1 <= 1 => apply one_is_one
  | |- Rabs ((-1) ^ _ * _) <= _ => apply sign_below; fade
  | |- Rabs (_ ^ _ * _) <= 1 => apply power_below_one; [assumption | fade]
  | |- Rabs (_ ^ _ * _) <= _ ^ _ => apply power_below; [assumption | fade]
  | |- Rabs (/ _ * _) <= _ => apply bias_below; [assumption | lia | fade]
  end.

(** From a step on it is known which of two numbers is the larger one. *)
Ltac decided :=
  repeat match goal with
  | |- context [Nat.max ?a ?b] => first [replace (Nat.max a b) with a by lia | replace (Nat.max a b) with b by lia]
  | |- context [Nat.min ?a ?b] => first [replace (Nat.min a b) with a by lia | replace (Nat.min a b) with b by lia]
  end;
  repeat match goal with
  | |- context [(?a + ?b - ?c)%nat] => replace (a + b - c)%nat with (a + (b - c))%nat by lia
  end;
  cbn [Nat.sub]; rewrite ?plus_INR.
