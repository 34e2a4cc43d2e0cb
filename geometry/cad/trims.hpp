// Trimming loops of elementary faces in the (u, v) plane, made from their 3D edges alone.
#ifndef LASH_GEOMETRY_TRIMS_HPP
#define LASH_GEOMETRY_TRIMS_HPP

#include "geometry/cad/surface.hpp"

namespace lash {

struct Piece { // LashCoedge with its own poles
    LashCurveType kind = LASH_LINE;
    double a[2] = {0, 0}, b[2] = {0, 0}, c[2] = {0, 0}, r = 0, t0 = 0, t1 = 1;
    std::vector<PoleUv> poles;
    int edge = -1;
    bool reversed = false;
};

struct HalfEdge { // material on the left, seen against the natural normal
    int edge = -1;
    bool reversed = false;
    int from = -1, to = -1; // vertices; equal or -1: closed
    const Curve* curve = nullptr;
};

using Loop = std::vector<Piece>;

struct Trim {
    bool u_closed = false, v_closed = false;
    double u0 = 0, u1 = 0, v0 = 0, v1 = 0;
    std::vector<Loop> loops; // outer first; none: the whole box
};

// Poles of a free piece times their weights (MAX_ORDER at most); returns the degree.
int weighted_poles(const Piece& piece, PoleUv* poles);
void piece_point(const Piece& piece, double s, double uv[2]); // s in [0, 1] along the piece
void piece_range(const Piece& piece, double low[2], double high[2]);

// Turns the frame of a sphere so that no edge comes near its poles.
void turn_sphere(Surface* s, const std::vector<HalfEdge>& edges);

// False when the edges do not bound a region of the surface (the caller then keeps it as freeform).
bool make_trim(const Surface& s, const std::vector<HalfEdge>& edges, Trim* trim);

} // namespace lash
#endif
