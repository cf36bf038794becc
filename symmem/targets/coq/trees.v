(** * The numbers of the tree recursion over the rationals, computed from their definition. *)
Module Trees.
Import ListNotations.
Open Scope Q_scope.

(** A step node has branches; a branch has the label of a momentum variable, step trees, and what it reads. *)
Inductive tree := Step (branches : list branch)
with branch := Branch (label : nat) (children : list tree) (read : list branch).

(** Memories after many steps: b decay^k, the value d steps ago, sums of memories, a memory of a memory. *)
Inductive memory :=
  | Geometric (b decay : Q) | Late (b : Q) (d : nat) | Both (x y : memory) | After (outer inner : memory).

Fixpoint binomial (n k : nat) : nat :=
  match n, k with
  | _, O => 1
  | O, S _ => 0
  | S m, S j => binomial m j + binomial m k
  end.

Definition choose (n k : nat) : Q := inject_Z (Z.of_nat (binomial n k)).
Definition add (x y : Q) : Q := Qred (x + y).
Definition mul (x y : Q) : Q := Qred (x * y).
Definition sum (xs : list Q) : Q := fold_right add 0 xs.

(** [moment m j = sum_(k >= 0) C(k, j) c(k)]. *)
Fixpoint moment (m : memory) (j : nat) : Q :=
  match m with
  | Geometric b decay => Qred (b * decay ^ Z.of_nat j / (1 - decay) ^ Z.of_nat (S j))
  | Late b d => mul b (choose d j)
  | Both x y => add (moment x j) (moment y j)
  | After x y => sum (map (fun i => mul (moment x i) (moment y (j - i))) (seq 0 (S j)))
  end.

(** What the elementary differentials hold of a memory: its gain, which may be zero for a sum of memories. *)
Fixpoint normaliser (m : memory) : Q :=
  match m with
  | Both _ _ => 1
  | After x y => mul (normaliser x) (normaliser y)
  | _ => moment m 0
  end.

(** A polynomial p(k) by its coefficients over the binomials C(k, j). *)
Definition value (p : list Q) (k : nat) : Q :=
  sum (map (fun j => mul (nth j p 0) (choose k j)) (seq 0 (length p))).

Definition differences (xs : list Q) : list Q := map (fun '(x, y) => Qred (y - x)) (combine xs (tl xs)).

Fixpoint newton (size : nat) (values : list Q) : list Q :=
  match size with O => [] | S m => hd 0 values :: newton m (differences values) end.

Definition from_values (f : nat -> Q) (degree : nat) : list Q :=
  newton (S degree) (map f (seq 0 (S degree))).

Definition times (p q : list Q) : list Q :=
  from_values (fun k => mul (value p k) (value q k)) (length p + length q - 2).

(** [sum_j c(j) p(k + j) = sum_i moment_i Delta^i p(k)], over the normaliser. *)
Definition mean (m : memory) (p : list Q) : list Q :=
  map (fun place => Qred (sum (map (fun i => mul (moment m i) (nth (place + i) p 0))
    (seq 0 (length p - place))) / normaliser m)) (seq 0 (length p)).

(** [a_k = q_1 + ... + q_k]. *)
Definition summed (q : list Q) : list Q :=
  from_values (fun k => sum (map (value q) (seq 1 k))) (length q).

Section Recursion.
Variable memories : list memory.

(** [a_k(tau) - a_(k-1)(tau)]: the product over the branches of their means; a label of no memory gives 0. *)
Fixpoint increment (t : tree) : list Q :=
  match t with Step branches => fold_right times [1] (map mean_of branches) end
with mean_of (b : branch) : list Q :=
  match b with
  | Branch label children read =>
      mean (nth label memories (Late 0 0))
        (fold_right times [1] (map (fun t => summed (increment t)) children ++ map mean_of read))
  end.

(** [c(tau)], and a'(tau): the coefficient of k in a_k, where C(k, j) has (-1)^(j-1)/j. *)
Definition step_number (t : tree) : Q := Qred (- hd 0 (increment t)).
Definition flow_number (t : tree) : Q :=
  sum (map (fun '(j, x) => Qred (x * (- (1)) ^ Z.of_nat (j - 1) / inject_Z (Z.of_nat j)))
    (tl (combine (seq 0 (S (length (increment t)))) (summed (increment t))))).

Definition agrees (row : tree * Q * Q) : bool :=
  let '(t, c, a) := row in Qeq_bool (step_number t) c && Qeq_bool (flow_number t) a.
End Recursion.
