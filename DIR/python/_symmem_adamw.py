"""AdamW without memory, to order 1 in the learning rate.

Made by symmem 0.1.0 from the optimizer adamw (Loshchilov and Hutter 2019). Do not edit:
emit it again.

Memoryless iteration
  θ ← θ − h [F + M], where M is the correction of memory.
    F⁽ⁿ⁾ = ∇L/√(|∇L|² + ε) + λ θ
    M⁽ⁿ⁾ = h ((β₁/(1 − β₁) − β₂/(1 − β₂) − (n + 1) β₁ⁿ⁺¹/(1 − β₁ⁿ⁺¹)
               + (n + 1) β₂ⁿ⁺¹/(1 − β₂ⁿ⁺¹))/√(|∇L|² + ε)
              + (β₂/(1 − β₂) − (n + 1) β₂ⁿ⁺¹/(1 − β₂ⁿ⁺¹)) ε/(|∇L|² + ε)^(3/2))
             · (∇‖∇L‖_{1,ε} + λ ∇²L θ)

Limit of many steps
    F = ∇L/√(|∇L|² + ε) + λ θ
    M = h ((β₁/(1 − β₁) − β₂/(1 − β₂))/√(|∇L|² + ε)
           + β₂/(1 − β₂) · ε/(|∇L|² + ε)^(3/2))
          · (∇‖∇L‖_{1,ε} + λ ∇²L θ)

Modified loss
  The step is θ ← θ − h (P ∇L̃ + λ θ), in the limit ε → 0.
    L̃ = L + h (β₁/(1 − β₁) − β₂/(1 − β₂)) (‖∇L‖₁ − λ L + λ ∇Lᵀθ)
    P = 1/|∇L|
  - Off the zeros of the gradient's entries the difference of the two steps is O(ε).

Vectors are NumPy arrays of any shape; float32 stays float32. The caller's functions get
arrays: grad(theta), hvp(theta, v) = D2L(theta)[v], d3(theta, u, v) = D3L(theta)[u, v].
n counts the steps from 0; n=None is the limit n -> infinity.
"""

import numpy as np

MODIFIED_LOSS = "eps -> 0"
BLOCK = 16384  # entries treated at a time, so that they stay in the cache of a core


def memoryless(
    theta,
    grad,
    *,
    n=None,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """F^(n)(theta): the update on a constant history."""
    _check(n, beta1, beta2, eps, weight_decay)
    theta = _array(theta)
    g = _like(theta, grad(theta))
    return _entrywise(_memoryless, theta, (theta, g), (eps, weight_decay), out)


def correction(
    theta,
    grad,
    hvp,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """lr F_1: what memory adds to the update."""
    _check(n, beta1, beta2, eps, weight_decay)
    theta = _array(theta)
    g = _like(theta, grad(theta))
    if n is None:
        x1 = beta2 / (1 - beta2)
        c1 = eps * x1
        c2 = beta1 / (1 - beta1) - x1
    else:
        x1 = beta2 / (1 - beta2)
        x2 = n + 1
        x3 = beta2**x2
        x4 = x2 * x3 / (1 - x3)
        x5 = beta1**x2
        c1 = eps * (x1 - x4)
        c2 = x4 + beta1 / (1 - beta1) - x1 - x2 * x5 / (1 - x5)
    v1 = _entrywise(_memoryless, theta, (theta, g), (eps, weight_decay))
    h1 = _like(theta, hvp(theta, v1))
    return _entrywise(_correction, theta, (g, h1), (c1, c2, lr, eps), out)


def step(
    theta,
    grad,
    hvp,
    *,
    n=None,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
    out=None,
):
    """theta - lr * (memoryless + correction)."""
    _check(n, beta1, beta2, eps, weight_decay)
    theta = _array(theta)
    g = _like(theta, grad(theta))
    if n is None:
        x1 = beta2 / (1 - beta2)
        c1 = eps * x1
        c2 = beta1 / (1 - beta1) - x1
    else:
        x1 = beta2 / (1 - beta2)
        x2 = n + 1
        x3 = beta2**x2
        x4 = x2 * x3 / (1 - x3)
        x5 = beta1**x2
        c1 = eps * (x1 - x4)
        c2 = x4 + beta1 / (1 - beta1) - x1 - x2 * x5 / (1 - x5)
    v1 = _entrywise(_memoryless, theta, (theta, g), (eps, weight_decay))
    h1 = _like(theta, hvp(theta, v1))
    return _entrywise(
        _step,
        theta,
        (theta, g, h1),
        (c1, c2, lr, eps, weight_decay),
        out,
    )


def modified_loss(
    theta,
    loss,
    grad,
    *,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    weight_decay=0.01,
):
    """The loss whose preconditioned gradient step this is."""
    _check(None, beta1, beta2, eps, weight_decay)
    theta = _array(theta)
    value = loss(theta)
    g = _like(theta, grad(theta))
    v1 = _entrywise(_density, theta, (theta, g), ())
    c2 = _total(v1)
    v2 = _entrywise(_density2, theta, (g,), ())
    c3 = _total(v2)
    p2 = c3 + c2 * weight_decay - value * weight_decay
    p1 = lr * p2 * (beta1 / (1 - beta1) - beta2 / (1 - beta2))
    c1 = value + p1
    return c1


def preconditioner(theta, grad, *, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """P of theta - lr * (P * gradient of modified_loss + decay * theta)."""
    _check(None, beta1, beta2, eps, weight_decay)
    theta = _array(theta)
    g = _like(theta, grad(theta))
    return _entrywise(_preconditioner, theta, (g,), ())


def decay(*, lr, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    """The decay beside the preconditioned gradient."""
    _check(None, beta1, beta2, eps, weight_decay)
    c1 = weight_decay
    return c1


def _memoryless(theta, g, eps, weight_decay):
    r1 = 1.0 / np.sqrt(eps + g * g)
    return g * r1 + weight_decay * theta


def _correction(g, h1, c1, c2, lr, eps):
    r1 = 1.0 / np.sqrt(eps + g * g)
    return lr * h1 * r1 * (c2 + c1 * r1 * r1)


def _step(theta, g, h1, c1, c2, lr, eps, weight_decay):
    r1 = 1.0 / np.sqrt(eps + g * g)
    p1 = -lr * (g * r1 + weight_decay * theta + lr * h1 * r1 * (c2 + c1 * r1 * r1))
    return p1 + theta


def _density(theta, g):
    return g * theta


def _density2(g):
    return np.abs(g)


def _preconditioner(g):
    r1 = 1 / np.abs(g)
    return r1


def _check(n, beta1, beta2, eps, weight_decay):
    if n is not None and (n != int(n) or n < 0):
        raise ValueError(f"n = {n!r}: steps count from 0; n=None is the limit")
    if not 0 <= beta1 < 1:
        raise ValueError(f"beta1 = {beta1!r} is outside [0, 1)")
    if not 0 <= beta2 < 1:
        raise ValueError(f"beta2 = {beta2!r} is outside [0, 1)")
    if not 0 < eps:
        raise ValueError(f"eps = {eps!r} is outside (0, inf)")
    if not 0 <= weight_decay:
        raise ValueError(f"weight_decay = {weight_decay!r} is outside [0, inf)")


def _array(theta):
    theta = np.asarray(theta)
    if np.iscomplexobj(theta):
        raise TypeError("theta is complex; give its real and imaginary parts")
    return theta if np.issubdtype(theta.dtype, np.floating) else theta.astype(float)


def _like(theta, values):
    """What a function of the caller's returned, as an array like theta."""
    values = np.asarray(values, dtype=theta.dtype)
    if values.shape != theta.shape:
        raise ValueError(f"a function returned {values.shape}, not {theta.shape}")
    return values


def _entrywise(kernel, theta, vectors, scalars, out=None):
    """kernel(*vectors, *scalars), block by block where the arrays are large."""
    if out is None:
        out = np.empty_like(theta)
    elif out.shape != theta.shape or out.dtype != theta.dtype:
        raise ValueError(f"out is not like theta: {theta.dtype}, {theta.shape}")
    if out.size <= BLOCK or not _can_be_cut(out, vectors):
        out[...] = kernel(*vectors, *scalars)
        return out
    flat, target = [vector.reshape(-1) for vector in vectors], out.reshape(-1)
    for start in range(0, out.size, BLOCK):
        block = slice(start, start + BLOCK)
        target[block] = kernel(*(vector[block] for vector in flat), *scalars)
    return out


def _can_be_cut(out, vectors):
    """Whether blocks are views, and none is overwritten before it is read."""
    arrays = (out, *vectors)
    if not all(array.flags.c_contiguous for array in arrays):
        return False
    shared = [vector for vector in vectors if np.may_share_memory(out, vector)]
    return all(vector.ctypes.data == out.ctypes.data for vector in shared)


def _total(vector):
    """The sum of the entries, added up in float64."""
    return float(np.sum(vector, dtype=np.float64))
