// From the work on a part to the flat tables.
#include <BRepBndLib.hxx>
#include <BRep_Tool.hxx>
#include <Bnd_Box.hxx>
#include <TopoDS.hxx>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gp_Quaternion.hxx>

#include "core/math3.h"
#include "geometry/cad/occt_model.hpp"

namespace lash {

int Tables::add_string(const std::string& text) {
    if (text.empty()) return 0;
    int at = (int)string.size();
    string.insert(string.end(), text.begin(), text.end());
    string.push_back('\0');
    return at;
}

LashShape Tables::shape() {
    LashShape s;
    memset(&s, 0, sizeof s);
    s.part = part.data();
    s.parts = (int)part.size();
    s.face = face.data();
    s.faces = (int)face.size();
    s.loop = loop.data();
    s.loops = (int)loop.size();
    s.coedge = coedge.data();
    s.coedges = (int)coedge.size();
    s.uv_pole = uv_pole.empty() ? nullptr : uv_pole[0].data();
    s.uv_poles = (int)uv_pole.size();
    s.edge = edge.data();
    s.edges = (int)edge.size();
    s.vertex = vertex.data();
    s.vertices = (int)vertex.size();
    s.vertex_edge = vertex_edge.data();
    s.vertex_edges = (int)vertex_edge.size();
    s.patch = patch.data();
    s.patches = (int)patch.size();
    s.segment = segment.data();
    s.segments = (int)segment.size();
    s.pole = pole.empty() ? nullptr : pole[0].data();
    s.poles = (int)pole.size();
    s.size = size.data();
    s.sizes = (int)size.size();
    s.mesh_point = mesh_point.empty() ? nullptr : mesh_point[0].data();
    s.mesh_normal = mesh_normal.empty() ? nullptr : mesh_normal[0].data();
    s.mesh_vertices = (int)mesh_point.size();
    s.triangle = triangle.empty() ? nullptr : triangle[0].data();
    s.triangle_face = triangle_face.data();
    s.triangles = (int)triangle.size();
    s.line = line.empty() ? nullptr : line[0].data();
    s.lines = (int)line.size();
    s.line_point = line_point.empty() ? nullptr : line_point[0].data();
    s.line_points = (int)line_point.size();
    s.string = string.data();
    s.string_bytes = (int)string.size();
    return s;
}

namespace {

void write_patches(const Surface& s, LashFace* face, Tables* tables) {
    face->first_patch = (int)tables->patch.size();
    face->u_patches = s.u_patches;
    face->v_patches = s.v_patches;
    for (const Patch& p : s.patches) {
        LashPatch q = {p.u_degree, p.v_degree, (int)tables->pole.size(), p.u0, p.u1, p.v0, p.v1};
        tables->patch.push_back(q);
        tables->pole.insert(tables->pole.end(), p.poles.begin(), p.poles.end());
    }
}

void write_loops(const Trim& trim, int first_edge, LashFace* face, Tables* tables) {
    face->first_loop = (int)tables->loop.size();
    face->loops = (int)trim.loops.size();
    face->u0 = trim.u0;
    face->u1 = trim.u1;
    face->v0 = trim.v0;
    face->v1 = trim.v1;
    face->u_closed = trim.u_closed;
    face->v_closed = trim.v_closed;
    for (const Loop& loop : trim.loops) {
        tables->loop.push_back({(int)tables->coedge.size(), (int)loop.size()});
        for (const Piece& p : loop) {
            LashCoedge c;
            memset(&c, 0, sizeof c); // padding too: the tables are compared byte by byte
            c.kind = p.kind;
            c.edge = p.edge < 0 ? -1 : first_edge + p.edge;
            c.reversed = p.reversed;
            for (int i = 0; i < 2; ++i) {
                c.a[i] = p.a[i];
                c.b[i] = p.b[i];
                c.c[i] = p.c[i];
            }
            c.r = p.r;
            c.t0 = p.t0;
            c.t1 = p.t1;
            if (p.kind == LASH_FREE_CURVE) {
                c.first_pole = (int)tables->uv_pole.size();
                c.degree = (int)p.poles.size() - 1;
                tables->uv_pole.insert(tables->uv_pole.end(), p.poles.begin(), p.poles.end());
            }
            tables->coedge.push_back(c);
        }
    }
}

// Ruled surfaces have their extremes on edges; spheres and tori also where the normal is along an
// axis.
LashBox face_box(const PartWork& w, int group) {
    const Surface& s = w.groups[group].surface;
    const Trim& trim = w.trims[group];
    LashBox box = empty_box();
    for (const Chain& c : w.chains)
        for (const Use& u : c.uses)
            if (u.group == group) grow_box(&box, curve_box(c.curve));
    if (s.type == LASH_FREEFORM) {
        box = empty_box();
        for (const Patch& p : s.patches)
            for (const Pole& q : p.poles) grow_box(&box, vec3(q[0], q[1], q[2]));
    }
    if (s.type == LASH_CONE && trim.u_closed)
        for (double v : {trim.v0, trim.v1})
            for (int i = 0; i < 4; ++i) grow_box(&box, surface_point(s, i * LASH_PI / 2, v));
    if (s.type != LASH_SPHERE && s.type != LASH_TORUS) return box;
    for (int i = 0; i < 6; ++i) { // points whose normal is along +- axis i
        Vec3 d = vec3(i % 3 == 0, i % 3 == 1, i % 3 == 2);
        if (i >= 3) d = vec3_neg(d);
        double h = vec3_dot(d, s.z), a = vec3_dot(d, s.x), b = vec3_dot(d, s.y);
        double u = atan2(b, a), v = atan2(h, hypot(a, b));
        for (int k = 0; k < (s.type == LASH_TORUS ? 2 : 1); ++k) { // and the inner side of a torus
            double uu = k == 0 ? u : u + LASH_PI, vv = k == 0 ? v : LASH_PI - v;
            uu += 2 * LASH_PI * std::ceil((trim.u0 - 1e-9 - uu) / (2 * LASH_PI));
            if (s.type == LASH_TORUS)
                vv += 2 * LASH_PI * std::ceil((trim.v0 - 1e-9 - vv) / (2 * LASH_PI));
            if (uu <= trim.u1 + 1e-9 && vv >= trim.v0 - 1e-9 && vv <= trim.v1 + 1e-9)
                grow_box(&box, surface_point(s, uu, vv));
        }
    }
    return box;
}

void write_face(const PartWork& w, int group, int part, Tables* tables, int first_edge) {
    const Group& g = w.groups[group];
    const Surface& s = g.surface;
    LashFace f;
    memset(&f, 0, sizeof f);
    f.type = s.type;
    f.origin = s.origin;
    f.x = s.x;
    f.y = s.y;
    f.z = s.z;
    f.radius = s.radius;
    f.radius2 = s.radius2;
    f.half_angle = s.half_angle;
    f.side = g.side;
    f.deviation = s.deviation;
    if (s.type == LASH_FREEFORM) write_patches(s, &f, tables);
    write_loops(w.trims[group], first_edge, &f, tables);
    f.index = (int)tables->face.size(); // one number for a file of several solids, too
    f.part = part;
    f.box = face_box(w, group);
    std::vector<TopoDS_Face> cad;
    for (int i : g.faces) {
        cad.push_back(w.faces[i].face);
        if (f.name == 0 && !w.faces[i].name.empty()) f.name = tables->add_string(w.faces[i].name);
        if (f.color[3] == 0) std::copy_n(w.faces[i].color.begin(), 4, f.color);
    }
    if (!(f.box.low.x <= f.box.high.x)) bad_input("a face has no extent");
    tables->face.push_back(f);
    tables->cad_faces.push_back(cad);
}

void write_edge(const PartWork& w, int chain, int part, int first_face, Tables* tables,
                const std::vector<int>& vertex) {
    const Chain& c = w.chains[chain];
    LashEdge e;
    memset(&e, 0, sizeof e);
    e.type = c.curve.type;
    e.origin = c.curve.origin;
    e.x = c.curve.x;
    e.y = c.curve.y;
    e.z = c.curve.z;
    e.radius = c.curve.radius;
    e.t0 = c.curve.t0;
    e.t1 = c.curve.t1;
    e.closed = c.closed;
    e.face[0] = e.face[1] = -1;
    for (const Use& u : c.uses) {
        bool against = u.reversed != (w.faces[u.face].orient < 0); // seen from outside
        int slot = against ? 1 : 0;
        if (e.face[slot] >= 0) slot = 1 - slot;
        if (e.face[slot] < 0) e.face[slot] = first_face + u.group;
    }
    for (int i = 0; i < 2; ++i) e.vertex[i] = c.vertex[i] < 0 ? -1 : vertex[c.vertex[i]];
    e.first_segment = (int)tables->segment.size();
    e.segments = (int)c.curve.segments.size();
    for (const Segment& g : c.curve.segments) {
        tables->segment.push_back({(int)g.poles.size() - 1, (int)tables->pole.size(), g.t0, g.t1});
        tables->pole.insert(tables->pole.end(), g.poles.begin(), g.poles.end());
    }
    e.convexity = chain_convexity(w, c);
    e.tolerance = c.tolerance;
    e.index = chain;
    e.part = part;
    auto name = w.document->names.find(w.edges[c.edges[0]].edge.TShape().get());
    if (name != w.document->names.end()) e.name = tables->add_string(name->second);
    e.box = curve_box(c.curve);
    tables->edge.push_back(e);
}

void write_vertices(const PartWork& w, int part, int first_edge, Tables* tables,
                    std::vector<int>* vertex) {
    std::vector<LashConvexity> convexity = vertex_convexities(w);
    std::vector<std::vector<int>> at(w.points.size());
    for (size_t k = 0; k < w.chains.size(); ++k)
        for (int i = 0; i < 2; ++i) {
            int v = w.chains[k].vertex[i];
            if (v >= 0 && (at[v].empty() || at[v].back() != (int)k)) at[v].push_back((int)k);
        }
    vertex->assign(w.points.size(), -1);
    for (size_t v = 0; v < at.size(); ++v) {
        if (at[v].empty()) continue;
        (*vertex)[v] = (int)tables->vertex.size();
        tables->vertex.push_back(
            {w.points[v], (int)tables->vertex_edge.size(), (int)at[v].size(), convexity[v], part});
        for (int k : at[v]) tables->vertex_edge.push_back(first_edge + k);
    }
}

} // namespace

void write_part(const PartWork& w, int part, Tables* tables) {
    LashShapePart& p = tables->part[part];
    p.first_face = (int)tables->face.size();
    p.first_edge = (int)tables->edge.size();
    p.first_vertex = (int)tables->vertex.size();
    std::vector<int> vertex;
    write_vertices(w, part, p.first_edge, tables, &vertex);
    for (size_t g = 0; g < w.groups.size(); ++g) write_face(w, (int)g, part, tables, p.first_edge);
    for (size_t k = 0; k < w.chains.size(); ++k)
        write_edge(w, (int)k, part, p.first_face, tables, vertex);
    p.faces = (int)tables->face.size() - p.first_face;
    p.edges = (int)tables->edge.size() - p.first_edge;
    p.vertices = (int)tables->vertex.size() - p.first_vertex;
    p.box = empty_box();
    for (int i = p.first_face; i < p.first_face + p.faces; ++i)
        grow_box(&p.box, tables->face[i].box);
    for (int i = p.first_edge; i < p.first_edge + p.edges; ++i)
        grow_box(&p.box, tables->edge[i].box);
}

static double part_size(const TopoDS_Shape& shape, double metre) {
    Bnd_Box box;
    BRepBndLib::Add(shape, box, Standard_False);
    if (box.IsVoid()) bad_input("a part has no extent");
    double x0, y0, z0, x1, y1, z1;
    box.SetGap(0);
    box.Get(x0, y0, z0, x1, y1, z1);
    double size =
        metre * sqrt((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0) + (z1 - z0) * (z1 - z0));
    if (!(size > 0) || size > 1e9) bad_input("a part has no or an infinite extent");
    return size;
}

// Elementary faces whose edges do not close are redone as freeform; that settles in a few rounds.
static void work_part(PartWork* work) {
    std::vector<bool> keep_freeform;
    for (int round = 0; round < 8; ++round) {
        collect_faces(work, keep_freeform);
        group_faces(work);
        collect_edges(work);
        chain_edges(work);
        place_vertices(work);
        if (trim_faces(work, &keep_freeform)) return;
    }
    bad_input("the edges of a face do not close");
}

static LashShapePart part_row(const Node& node, double metre, Tables* tables) {
    LashShapePart p;
    memset(&p, 0, sizeof p);
    p.name = tables->add_string(node.name);
    p.parent = node.parent;
    p.product = node.product;
    p.material = node.material.empty() ? 0 : tables->add_string(node.material);
    p.density = node.density;
    p.assembly = node.assembly;
    gp_Quaternion q = node.placement.GetRotation();
    const gp_XYZ& r = node.placement.TranslationPart();
    p.placement =
        pose(to_metres(gp_Pnt(r), metre), quat_normalize(quat(q.W(), q.X(), q.Y(), q.Z())));
    for (int i = 0; i < 4; ++i) p.color[i] = node.color[i];
    p.valid = true;
    p.first_face = (int)tables->face.size();
    p.first_edge = (int)tables->edge.size();
    p.first_vertex = (int)tables->vertex.size();
    p.first_triangle = (int)tables->triangle.size();
    p.first_line = (int)tables->line.size();
    return p;
}

void build_tables(const Document& document, double deflection, Tables* tables) {
    tables->warnings = document.warnings;
    for (const Node& node : document.nodes) {
        int part = (int)tables->part.size();
        tables->part.push_back(part_row(node, document.metre, tables));
        if (node.assembly) continue;
        PartWork w;
        w.document = &document;
        w.metre = document.metre;
        w.shape = node.shape;
        w.size = part_size(node.shape, document.metre);
        work_part(&w);
        write_part(w, part, tables);
        write_mesh(w, part, deflection, tables);
        write_mass(w, part, tables);
        write_reach(w, part, tables);
        write_sizes(w, part, tables);
    }
    for (size_t i = tables->part.size(); i-- > 0;) { // boxes of assemblies, leaves first
        if (tables->part[i].parent < 0) continue;
        LashShapePart& up = tables->part[tables->part[i].parent];
        bool empty = up.box.low.x == 0 && up.box.high.x == 0 && up.box.low.y == 0 &&
                     up.box.high.y == 0 && up.box.low.z == 0 && up.box.high.z == 0;
        if (empty)
            up.box = tables->part[i].box;
        else
            grow_box(&up.box, tables->part[i].box);
    }
}

} // namespace lash
