// The CUDA implementations of convolution, as listed in conv2d.cu; each is defined in its own file.
#pragma once

#include "op/op.hpp"

namespace roofline {

Implementation conv2d_direct();
Implementation conv2d_im2col();
Implementation conv2d_implicit();
Implementation conv2d_wgmma();

}  // namespace roofline
