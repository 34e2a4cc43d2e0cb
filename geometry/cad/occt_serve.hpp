// The query mode of `lash-cad`.
#ifndef LASH_GEOMETRY_OCCT_SERVE_HPP
#define LASH_GEOMETRY_OCCT_SERVE_HPP

namespace lash {

int serve_queries(int input, int output); // exit code

} // namespace lash
#endif
