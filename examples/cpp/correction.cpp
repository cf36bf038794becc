// The correction of AdamW from C++: the header is plain C, and the vectors are std::vector.
//
// README.md has the commands.

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include <symmem_adamw.h>

namespace {

void check(int status)
{
    if (status != SYMMEM_OK) {
        throw std::invalid_argument(symmem_adamw_message(status));
    }
}

template <typename T> struct Kernels;

template <> struct Kernels<double> {
    static constexpr auto direction = symmem_adamw_direction_f64;
    static constexpr auto correction = symmem_adamw_correction_f64;
};

template <> struct Kernels<float> {
    static constexpr auto direction = symmem_adamw_direction_f32;
    static constexpr auto correction = symmem_adamw_correction_f32;
};

// On L = sum theta^2 / 2 the Hessian is the identity: hv = v.
template <typename T> std::vector<T> correction(const std::vector<T> &theta, double lr, symmem_adamw_params params)
{
    std::vector<T> v(theta.size()), out(theta.size());
    check(Kernels<T>::direction(theta.data(), theta.data(), v.data(), theta.size(), -1, &params));
    check(Kernels<T>::correction(theta.data(), theta.data(), v.data(), out.data(), theta.size(), -1, lr, &params));
    return out;
}

} // namespace

int main()
{
    symmem_adamw_params params = SYMMEM_ADAMW_PARAMS_INIT;
    const std::vector<double> theta{0.5, -1.0, 2.0};
    const auto wide = correction<double>(theta, 0.1, params);
    const auto narrow = correction<float>({0.5f, -1.0f, 2.0f}, 0.1, params);
    bool good = true;
    for (std::size_t i = 0; i < theta.size(); ++i) {
        const double x = theta[i], r = 1 / std::sqrt(x * x + params.eps);
        const double exact = 0.1 * r * (9 - 999 + 999 * params.eps * r * r) * (x * r + params.weight_decay * x);
        std::printf("%+.3f: %.6f (float %.6f)\n", x, wide[i], narrow[i]);
        good = good && std::fabs(wide[i] / exact - 1) < 1e-12 && std::fabs(narrow[i] / exact - 1) < 1e-5;
    }
    params.beta1 = 2;
    try {
        correction<double>(theta, 0.1, params);
        good = false;
    } catch (const std::invalid_argument &error) {
        std::printf("refused: %s\n", error.what());
    }
    return good ? 0 : 1;
}
