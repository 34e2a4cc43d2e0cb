// The way from a STEP file to the tables, inside `lash-cad`: reading (occt_read.cpp), one part
// after another (occt_part.cpp: faces, occt_edges.cpp: edges and vertices, occt_mesh.cpp: mesh,
// mass, reach), and the tables (occt_tables.cpp).
#ifndef LASH_GEOMETRY_OCCT_MODEL_HPP
#define LASH_GEOMETRY_OCCT_MODEL_HPP

#include <TopTools_IndexedMapOfShape.hxx>
#include <TopoDS_Compound.hxx>
#include <TopoDS_Edge.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Shape.hxx>
#include <XSControl_WorkSession.hxx>
#include <gp_Pnt.hxx>
#include <gp_Trsf.hxx>
#include <map>
#include <string>

#include "geometry/cad/trims.hpp"

namespace lash {

[[noreturn]] void bad_input(const char* format, ...) __attribute__((format(printf, 1, 2)));

// What to say of the file should OpenCASCADE crash on it; empty when nothing is known.
const char* crash_note();

struct ReadOptions {
    std::string path, hash;
    double scale = 0, deflection = 1e-3;
    bool heal = false;
    bool pmi = false;
};

struct Node { // a part or an assembly, file's frame, OpenCASCADE's millimetres
    std::string name;
    int parent = -1;
    int product = 0; // number of the placed product: solids of one share it
    bool assembly = false;
    TopoDS_Shape shape;
    gp_Trsf placement;
    std::array<float, 4> color = {0, 0, 0, 0};
    std::string material; // as the file names it
    double density = 0;   // [kg/m^3]; 0: not in the file
};

struct Size {                               // a dimension of the file, millimetres or radians
    std::vector<const void*> first, second; // TShapes of the faces that it is attached to
    LashSizeKind kind = LASH_SIZE_OTHER;
    bool is_radius = false;
    double stated = NAN;
    double lower = NAN, upper = NAN; // deviations
    bool limits = false;             // lower and upper are the limits themselves
    std::string class_name;
};

struct Document {
    std::vector<Node> nodes;
    std::map<const void*, std::string> names;           // of faces and edges, by their TShape
    std::map<const void*, std::array<float, 4>> colors; // of faces that have their own
    std::string unit;                                   // as the file declares it
    double unit_mm = 1;                                 // millimetres per number of the file
    double metre = 1e-3; // metres per OpenCASCADE unit, override included
    std::vector<std::string> warnings;
    std::vector<Size> sizes;
};

// The dimensions of a file that was transferred (occt_sizes.cpp).
void read_sizes(const Handle(XSControl_WorkSession) & session, Document* document);

// What every file needs of OpenCASCADE, ahead of time.
void prepare_reading();
// Reads the file or throws BadInput.
Document read_step(const ReadOptions& options);

// Loose faces with common edges where they meet (occt_sew.cpp), in the same order.
TopoDS_Compound sew_faces(Document* document, const TopoDS_Compound& faces);

// The tables while they grow.
struct Tables {
    std::vector<LashShapePart> part;
    std::vector<LashFace> face;
    std::vector<LashLoop> loop;
    std::vector<LashCoedge> coedge;
    std::vector<PoleUv> uv_pole;
    std::vector<LashEdge> edge;
    std::vector<LashVertex> vertex;
    std::vector<int> vertex_edge;
    std::vector<LashPatch> patch;
    std::vector<LashSegment> segment;
    std::vector<Pole> pole;
    std::vector<LashSize> size;
    std::vector<std::array<float, 3>> mesh_point, mesh_normal, line_point;
    std::vector<std::array<int, 3>> triangle;
    std::vector<int> triangle_face;
    std::vector<std::array<int, 2>> line;
    std::vector<char> string = {'\0'};
    std::vector<std::string> warnings;
    // For queries: the CAD faces behind each table face.
    std::vector<std::vector<TopoDS_Face>> cad_faces;

    int add_string(const std::string& text);
    LashShape shape(); // borrows the vectors
};

struct FaceWork { // a face of the B-rep
    TopoDS_Face face;
    Surface surface;
    double orient = 1; // outward normal = orient * Su x Sv of OpenCASCADE
    double flip = 1;   // Su x Sv of OpenCASCADE = flip * natural normal of `surface`
    bool keep_freeform = false;
    std::string name;
    std::array<float, 4> color = {0, 0, 0, 0};
    int group = -1;
};

struct Group { // the B-rep faces that become one face of the tables
    std::vector<int> faces;
    Surface surface;
    double side = 1;
    int table = -1;
};

struct Use { // an edge in a group
    int group, face;
    bool reversed; // against the edge, material on the left, seen against OpenCASCADE's Su x Sv
};

struct EdgeWork { // an edge of the B-rep
    TopoDS_Edge edge;
    double first = 0, last = 1; // its parameter range
    std::vector<Use> uses;
    Curve curve;
    int vertex[2] = {-1, -1};
    double tolerance = 0;  // [m]
    bool dropped = false;  // seam, inside a group, or degenerated
    int into = -1;         // the chain it belongs to
    bool reversed = false; // runs against its chain
};

struct Chain { // one or more B-rep edges that become one edge of the tables
    std::vector<int> edges;
    Curve curve;
    std::vector<Use> uses; // relative to the chain
    int vertex[2] = {-1, -1};
    bool closed = false;
    double tolerance = 0;
    int table = -1;
};

struct PartWork {
    const Document* document = nullptr;
    double metre = 1e-3, size = 1; // metres per unit; diagonal of the part [m]
    TopoDS_Shape shape;
    std::vector<FaceWork> faces;
    std::vector<Group> groups;
    std::vector<EdgeWork> edges;
    std::vector<Chain> chains;
    std::vector<Vec3> points; // of the vertices [m]
    std::vector<double> point_tolerance;
    std::vector<Trim> trims; // per group
    TopTools_IndexedMapOfShape vertex_map, edge_map;
};

Vec3 to_metres(const gp_Pnt& p, double metre);

// Stages of a part, in calling order.
void collect_faces(PartWork* w, const std::vector<bool>& keep_freeform); // occt_part.cpp
void group_faces(PartWork* w);
void collect_edges(PartWork* w); // occt_edges.cpp
void chain_edges(PartWork* w);
void place_vertices(PartWork* w);
bool trim_faces(PartWork* w, std::vector<bool>* keep_freeform); // occt_trims.cpp
Vec3 outward_normal(const PartWork& w, const Use& use, const EdgeWork& edge, double t);
LashConvexity chain_convexity(const PartWork& w, const Chain& chain);
std::vector<LashConvexity> vertex_convexities(const PartWork& w);

Curve curve_of(const TopoDS_Edge& edge, double metre, double* first, double* last);

// Writes one part to the tables (occt_tables.cpp), its mesh, mass and reach (occt_mesh.cpp).
void write_part(const PartWork& w, int part, Tables* tables);
void write_mesh(const PartWork& w, int part, double deflection, Tables* tables);
void write_mass(const PartWork& w, int part, Tables* tables);
void write_sizes(const PartWork& w, int part, Tables* tables); // occt_sizes.cpp
void write_reach(const PartWork& w, int part, Tables* tables);

void build_tables(const Document& document, double deflection, Tables* tables);

} // namespace lash
#endif
