(** * Memories of memories: [after x y] remembers, by x, the values of a variable that remembers by y. *)
Definition after (x y : nat -> nat -> R) (n k : nat) : R :=
  total (fun i => x n i * y (n - i)%nat (k - i)%nat) (S k).

Lemma past_start : forall w a, past w a 0 = 0.
Proof. intros w a. unfold past, moved. simpl. ring. Qed.

Lemma total_split : forall f p q, total f (p + q) = total f p + total (fun i => f (p + i)%nat) q.
Proof.
  intros f p q. induction q as [|q IH]; [rewrite Nat.add_0_r; simpl; ring|].
  rewrite Nat.add_succ_r, !total_last, IH. ring.
Qed.

Lemma moved_constant : forall c n k, moved (fun _ => c) n k = c * INR k.
Proof.
  intros c n k. unfold moved. induction k as [|k IH]; [simpl; ring|]. rewrite total_last, IH, S_INR. ring.
Qed.

Lemma moved_once : forall a n, moved a (S n) 1 = a n.
Proof. intros a n. unfold moved. simpl. rewrite Nat.sub_0_r, Nat.add_0_r. ring. Qed.

(** A geometric memory of what y remembers. *)
Lemma after_step : forall b y n k,
  after (fun _ k => b ^ k) y (S n) (S k) = b * after (fun _ k => b ^ k) y n k + y (S n) (S k).
Proof.
  intros b y n k. unfold after. rewrite total_first, <- total_times.
  rewrite (total_ext _ (fun i => b * (b ^ i * y (n - i)%nat (k - i)%nat))) by (intros; simpl; ring).
  simpl (S n - 0)%nat. simpl (S k - 0)%nat. simpl (b ^ 0). ring.
Qed.

Lemma total_after_start : forall b y, total (after (fun _ k => b ^ k) y 0) 1 = total (y O) 1.
Proof. intros b y. unfold after. simpl. ring. Qed.

Lemma total_after : forall b y n,
  total (after (fun _ k => b ^ k) y (S n)) (S (S n))
  = b * total (after (fun _ k => b ^ k) y n) (S n) + total (y (S n)) (S (S n)).
Proof.
  intros b y n. rewrite (total_first _ (S n)), (total_first (y (S n)) (S n)).
  rewrite (total_ext _ (fun k => b * after (fun _ k => b ^ k) y n k + y (S n) (S k)))
    by (intros; apply after_step).
  rewrite total_plus, total_times.
  replace (after (fun _ k => b ^ k) y (S n) 0) with (y (S n) O) by (unfold after; simpl; ring).
  rewrite !(total_first _ n). ring.
Qed.

Lemma past_after : forall b y a n,
  past (after (fun _ k => b ^ k) y (S n)) a (S n)
  = b * (past (after (fun _ k => b ^ k) y n) a n + total (after (fun _ k => b ^ k) y n) (S n) * a n)
    + past (y (S n)) a (S n).
Proof.
  intros b y a n. apply (past_step b (after (fun _ k => b ^ k) y) y). intros k _. apply after_step.
Qed.

(** What y remembered d steps ago. *)
Lemma after_late : forall d y n k,
  after (late d) y n k = if Nat.ltb (Nat.min d n) (S k) then y (n - d)%nat (k - Nat.min d n)%nat else 0.
Proof.
  intros d y n k. unfold after, late. rewrite (total_one (fun i => y (n - i)%nat (k - i)%nat)).
  replace (n - Nat.min d n)%nat with (n - d)%nat by lia. reflexivity.
Qed.

Lemma total_later : forall (f : nat -> R) m n, (m <= n)%nat ->
  total (fun k => if Nat.ltb m (S k) then f k else 0) (S n) = total (fun j => f (m + j)%nat) (S (n - m)).
Proof.
  intros f m n L. replace (S n) with (m + S (n - m))%nat by lia. rewrite total_split.
  rewrite (total_ext _ (fun _ => 0 * 0) m), total_times.
  - rewrite (total_ext _ (fun j => f (m + j)%nat) (S (n - m))); [ring|].
    intros j _. destruct (Nat.ltb_spec m (S (m + j))); [reflexivity | lia].
  - intros k K. destruct (Nat.ltb_spec m (S k)); [lia | ring].
Qed.

Lemma total_after_late : forall d y n,
  total (after (late d) y n) (S n) = total (y (n - d)%nat) (S (n - d)).
Proof.
  intros d y n. rewrite (total_ext _ _ _ (fun k _ => after_late d y n k)).
  rewrite (total_later (fun k => y (n - d)%nat (k - Nat.min d n)%nat)) by lia.
  replace (n - Nat.min d n)%nat with (n - d)%nat by lia. apply total_ext. intros j _. f_equal. lia.
Qed.

Lemma moved_further : forall a n m j, (m + j <= n)%nat ->
  moved a n (m + j) = moved a (n - m) j + moved a n m.
Proof.
  intros a n m j L. unfold moved. rewrite (Nat.add_comm m j), total_split. f_equal; apply total_ext;
    intros i _; f_equal; lia.
Qed.

Lemma past_after_late : forall d y a n,
  past (after (late d) y n) a n
  = past (y (n - d)%nat) a (n - d) + total (y (n - d)%nat) (S (n - d)) * moved a n (Nat.min d n).
Proof.
  intros d y a n. unfold past at 1.
  rewrite (total_ext _ (fun k => if Nat.ltb (Nat.min d n) (S k)
    then y (n - d)%nat (k - Nat.min d n)%nat * moved a n k else 0)).
  - rewrite (total_later (fun k => y (n - d)%nat (k - Nat.min d n)%nat * moved a n k)) by lia.
    replace (n - Nat.min d n)%nat with (n - d)%nat by lia. unfold past.
    rewrite (Rmult_comm (total _ _)), <- total_times, <- total_plus. apply total_ext. intros j J.
    rewrite moved_further by lia. replace (Nat.min d n + j - Nat.min d n)%nat with j by lia.
    replace (n - Nat.min d n)%nat with (n - d)%nat by lia. ring.
  - intros k _. rewrite after_late. destruct (Nat.ltb (Nat.min d n) (S k)); ring.
Qed.

(** Steps of a delay as numbers, and powers of products, quotients and negative numbers taken apart. *)
Ltac counted := cbn [Nat.min Nat.max Nat.sub]; rewrite ?Nat.sub_0_r, ?Nat.add_0_r.

Lemma power_opposite : forall x n, (- x) ^ n = (-1) ^ n * x ^ n.
Proof. intros x n. rewrite <- Rpow_mult_distr. f_equal. ring. Qed.

Ltac parted := unfold Rdiv; repeat (cbn [pow]; rewrite ?Rpow_mult_distr, ?power_opposite, ?pow_inv, ?pow1).

(** [(-1) ^ n] is 1 or -1: the engine writes [(-1) ^ (2 n)] as 1, so both are tried. *)
Lemma either_sign : forall n, (-1) ^ n = 1 \/ (-1) ^ n = -1.
Proof. induction n as [|n [E|E]]; cbn [pow]; [left; reflexivity | right | left]; rewrite E; lra. Qed.

Ltac parted_in D :=
  unfold Rdiv in D; repeat (cbn [pow] in D; rewrite ?Rpow_mult_distr, ?power_opposite, ?pow_inv, ?pow1 in D).

Ltac apart_at m :=
  match goal with
  | D : forall n : nat, _ <> 0 |- _ => pose proof (D m); pose proof (D (S m)); revert D; apart_at m; intro D
  | _ => idtac
  end.

Ltac each_sign :=
  powers;
  repeat match goal with
  | |- context [(-1) ^ ?m] =>
      let E := fresh in
      apart_at m; apart_in; repeat match goal with D : _ <> 0 |- _ => progress parted_in D end;
      destruct (either_sign m) as [E|E]; rewrite ?E in *; clear E; powers
  end.
