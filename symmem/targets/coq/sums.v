(** * Sums over the past. Every sum is finite, and [past] is the double sum of the definition. *)

Fixpoint total (f : nat -> R) (n : nat) : R :=
  match n with O => 0 | S m => total f m + f m end.

(** [moved a n k = sum_(s = n-k .. n-1) a s]: how far the iterate k steps ago lies. *)
Definition moved (a : nat -> R) (n k : nat) : R := total (fun j => a (n - k + j)%nat) k.

(** [past w a n = sum_(k = 0 .. n) w k * sum_(s = n-k .. n-1) a s]; the inner sum is empty at k = 0. *)
Definition past (w a : nat -> R) (n : nat) : R := total (fun k => w k * moved a n k) (S n).

(** [tail w n s = sum_(k = n-s .. n) w k]: the weight of the step from theta_s. *)
Definition tail (w : nat -> R) (n s : nat) : R := total (fun j => w (n - s + j)%nat) (S s).

Lemma total_ext : forall f g n, (forall k, (k < n)%nat -> f k = g k) -> total f n = total g n.
Proof.
  intros f g n. induction n as [|n IH]; intros E; simpl; [reflexivity|].
  rewrite IH; [rewrite E; [reflexivity | lia] | intros k L; apply E; lia].
Qed.

Lemma total_last : forall f n, total f (S n) = total f n + f n.
Proof. reflexivity. Qed.

Lemma total_plus : forall f g n, total (fun k => f k + g k) n = total f n + total g n.
Proof. intros f g n. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_times : forall c f n, total (fun k => c * f k) n = c * total f n.
Proof. intros c f n. induction n as [|n IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma total_first : forall f n, total f (S n) = f O + total (fun k => f (S k)) n.
Proof. intros f n. induction n as [|n IH]; simpl in *; [ring | rewrite IH; ring]. Qed.

Lemma moved_step : forall a n k, (k <= n)%nat -> moved a (S n) (S k) = moved a n k + a n.
Proof.
  intros a n k L. unfold moved. simpl. replace (n - k + k)%nat with n by lia. reflexivity.
Qed.

Lemma past_ext : forall v w a b n, (forall k, (k <= n)%nat -> v k = w k) ->
  (forall s, (s < n)%nat -> a s = b s) -> past v a n = past w b n.
Proof.
  intros v w a b n W A. unfold past. apply total_ext. intros k L. rewrite W by lia. f_equal.
  unfold moved. apply total_ext. intros j M. apply A. lia.
Qed.

Lemma past_plus_weight : forall v w a n, past (fun k => v k + w k) a n = past v a n + past w a n.
Proof.
  intros v w a n. unfold past. rewrite <- total_plus. apply total_ext. intros k _. ring.
Qed.

Lemma past_times_weight : forall c w a n, past (fun k => c * w k) a n = c * past w a n.
Proof. intros c w a n. unfold past. rewrite <- total_times. apply total_ext. intros k _. ring. Qed.

Lemma moved_plus : forall a b n k, moved (fun s => a s + b s) n k = moved a n k + moved b n k.
Proof. intros a b n k. unfold moved. rewrite <- total_plus. reflexivity. Qed.

Lemma past_plus : forall w a b n, past w (fun s => a s + b s) n = past w a n + past w b n.
Proof.
  intros w a b n. unfold past. rewrite <- total_plus. apply total_ext. intros k _. rewrite moved_plus. ring.
Qed.

Lemma past_times : forall c w a n, past w (fun s => c * a s) n = c * past w a n.
Proof.
  intros c w a n. unfold past. rewrite <- total_times. apply total_ext. intros k _. unfold moved.
  rewrite total_times. ring.
Qed.

Lemma past_first : forall w a n,
  past w a (S n) = total (fun k => w (S k) * moved a (S n) (S k)) (S n).
Proof. intros w a n. unfold past. rewrite total_first. change (moved a (S n) 0) with 0. ring. Qed.

(** The double sum is a single sum. *)
Lemma past_single : forall n w a, past w a n = total (fun s => tail w n s * a s) n.
Proof.
  induction n as [|n IH]; intros w a; [unfold past, moved; simpl; ring|].
  rewrite past_first, (total_ext _ (fun k => w (S k) * moved a n k + a n * w (S k))).
  - rewrite total_plus, total_times. fold (past (fun k => w (S k)) a n). rewrite IH, (total_last (fun s => tail w (S n) s * a s)).
    rewrite (total_ext _ (fun s => tail w (S n) s * a s) n).
    + assert (T : tail w (S n) n = total (fun k => w (S k)) (S n)).
      { unfold tail. apply total_ext. intros j M. f_equal. lia. }
      rewrite T. ring.
    + intros s L. unfold tail. f_equal. apply total_ext. intros j M. f_equal. lia.
  - intros k L. rewrite moved_step by lia. ring.
Qed.

(** A geometric memory of what the kernel v remembers: one step further. *)
Lemma past_step : forall b c v a n,
  (forall k, (k <= n)%nat -> c (S n) (S k) = b * c n k + v (S n) (S k)) ->
  past (c (S n)) a (S n) = b * (past (c n) a n + total (c n) (S n) * a n) + past (v (S n)) a (S n).
Proof.
  intros b c v a n E. rewrite !past_first.
  rewrite (total_ext _ (fun k => b * (c n k * moved a n k + a n * c n k) + v (S n) (S k) * moved a (S n) (S k))).
  - rewrite total_plus, total_times, total_plus, total_times. unfold past. ring.
  - intros k L. rewrite E by lia. rewrite moved_step by lia. ring.
Qed.

Lemma total_geometric : forall b n, b <> 1 -> total (fun k => b ^ k) n = (1 - b ^ n) / (1 - b).
Proof.
  intros b n D. induction n as [|n IH]; simpl; [field; lra | rewrite IH; field; lra].
Qed.

Lemma past_nothing : forall a n, past (fun _ => 0) a n = 0.
Proof.
  intros a n. rewrite (past_ext _ (fun k => 0 * 0) a a) by (intros; ring).
  rewrite past_times_weight. ring.
Qed.

Lemma past_geometric : forall b a n,
  past (fun k => b ^ k) a (S n) = b * (past (fun k => b ^ k) a n + total (fun k => b ^ k) (S n) * a n).
Proof.
  intros b a n. rewrite (past_step b (fun _ k => b ^ k) (fun _ _ => 0) a n).
  - rewrite past_nothing. ring.
  - intros k _. simpl. ring.
Qed.

(** A delay of d steps: the value from then, and the first one before the start. *)
Definition late (d n k : nat) : R := if Nat.eqb k (Nat.min d n) then 1 else 0.

Lemma total_one : forall (f : nat -> R) m n,
  total (fun k => (if Nat.eqb k m then 1 else 0) * f k) n = if Nat.ltb m n then f m else 0.
Proof.
  intros f m. induction n as [|n IH]; [simpl; destruct (Nat.ltb_spec m 0); [lia | reflexivity]|].
  rewrite total_last, IH.
  destruct (Nat.eqb_spec n m), (Nat.ltb_spec m n), (Nat.ltb_spec m (S n)); subst; try lia; ring.
Qed.

Lemma total_late : forall d n, total (late d n) (S n) = 1.
Proof.
  intros d n. rewrite (total_ext _ (fun k => (if Nat.eqb k (Nat.min d n) then 1 else 0) * 1)).
  - rewrite (total_one (fun _ => 1)). destruct (Nat.ltb_spec (Nat.min d n) (S n)); [reflexivity | lia].
  - intros k _. unfold late. ring.
Qed.

Lemma past_late : forall d a n, past (late d n) a n = moved a n (Nat.min d n).
Proof.
  intros d a n. unfold past, late. rewrite (total_one (moved a n)).
  destruct (Nat.ltb_spec (Nat.min d n) (S n)); [reflexivity | lia].
Qed.

(** No memory: the present value alone. *)
Definition now (k : nat) : R := match k with O => 1 | S _ => 0 end.

Lemma total_now : forall n, total now (S n) = 1.
Proof. induction n as [|n IH]; [simpl; ring | rewrite total_last, IH; simpl; ring]. Qed.

Lemma past_now : forall a n, past now a n = 0.
Proof.
  intros a [|n]; [unfold past, moved; simpl; ring|].
  rewrite past_first, (total_ext _ (fun _ => 0 * 0)) by (intros; simpl; ring). rewrite total_times. ring.
Qed.
