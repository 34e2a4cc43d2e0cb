// Direction numbers from Boost's table (Joe and Kuo, 3667 dimensions): the point whose Gray code
// has the single bit r is the direction number r itself.
//
// Boost leaves out the origin, so its point `init` is ours number init + 1; Gray code 2^r belongs
// to number 2^(r+1) - 1.
#include <boost/random/sobol.hpp>

#include "app/study/sobol.h"

extern "C" void lash_sobol_directions(int dimensions, uint32_t* bits) {
    boost::random::sobol_engine<uint_least64_t, LASH_SOBOL_BITS + 1> engine(
        static_cast<std::size_t>(dimensions));
    for (unsigned r = 0; r < LASH_SOBOL_BITS; ++r) {
        engine.seed((uint_least64_t{2} << r) - 2);
        for (int k = 0; k < dimensions; ++k) {
            bits[LASH_SOBOL_BITS * k + static_cast<int>(r)] = static_cast<uint32_t>(engine() >> 1);
        }
    }
}
