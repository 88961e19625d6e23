// The CUDA implementations of convolution, as conv2d.cu lists them. Each file of theirs makes its own entry.
#pragma once

#include "op/op.hpp"

namespace roofline {

Implementation conv2d_direct();
Implementation conv2d_im2col();
Implementation conv2d_implicit();
Implementation conv2d_wgmma();

}  // namespace roofline
