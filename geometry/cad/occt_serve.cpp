// The query mode of the helper: BRepExtrema_DistShapeShape between two face sets at any pose.
//
// The pair is queried in the frame of a: b is placed by a^-1 b, the points are mapped back.
#include "geometry/cad/occt_serve.hpp"

#include <unistd.h>

#include <BRepBuilderAPI_Transform.hxx>
#include <BRepExtrema_DistShapeShape.hxx>
#include <BRep_Builder.hxx>
#include <TopLoc_Location.hxx>
#include <TopoDS_Compound.hxx>
#include <cstring>
#include <ctime>
#include <gp_Quaternion.hxx>

#include "core/math3.h"
#include "geometry/cad/guard.hpp"
#include "geometry/cad/occt_model.hpp"
#include "geometry/cad/occt_query_wire.h"

namespace lash {
namespace {

bool receive(int file, void* data, size_t bytes) {
    char* p = static_cast<char*>(data);
    while (bytes > 0) {
        ssize_t n = read(file, p, bytes);
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool answer(int file, const void* data, size_t bytes) {
    const char* p = static_cast<const char*>(data);
    while (bytes > 0) {
        ssize_t n = write(file, p, bytes);
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

struct Side {
    ReadOptions options;
    std::vector<int> rows;
};

bool receive_side(int input, Side* side) {
    OcctSideRequest request;
    if (!receive(input, &request, sizeof request) || request.path_bytes < 0 || request.count < 0)
        return false;
    side->options.scale = request.scale;
    side->options.heal = request.heal != 0;
    side->options.path.resize((size_t)request.path_bytes);
    side->rows.resize((size_t)request.count);
    return receive(input, &side->options.path[0], (size_t)request.path_bytes) &&
           receive(input, side->rows.data(), side->rows.size() * sizeof(int));
}

// The chosen faces as one compound in true millimetres.
TopoDS_Shape load_side(const Side& side) {
    Document document = read_step(side.options);
    Tables tables;
    build_tables(document, 0.05, &tables);
    TopoDS_Compound compound;
    BRep_Builder builder;
    builder.MakeCompound(compound);
    std::vector<int> rows = side.rows;
    if (rows.empty())
        for (size_t i = 0; i < tables.cad_faces.size(); ++i) rows.push_back((int)i);
    for (int row : rows) {
        if (row < 0 || row >= (int)tables.cad_faces.size()) bad_input("no face %d", row);
        for (const TopoDS_Face& face : tables.cad_faces[row]) builder.Add(compound, face);
    }
    double factor = document.metre * 1e3;
    if (factor == 1) return compound;
    gp_Trsf scale;
    scale.SetScaleFactor(factor);
    return BRepBuilderAPI_Transform(compound, scale, Standard_True).Shape();
}

Pose take_pose(const double p[7]) {
    return pose(vec3(p[0], p[1], p[2]), quat(p[3], p[4], p[5], p[6]));
}

double processor_seconds() { // of this thread: other programs on the machine do not count
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool query(const TopoDS_Shape& a, const TopoDS_Shape& b, const OcctPoseRequest& request,
           OcctDistanceReply* reply) {
    Pose world_a = take_pose(request.a),
         a_b = pose_mul(pose_inverse(world_a), take_pose(request.b));
    gp_Trsf move;
    move.SetRotation(gp_Quaternion(a_b.rot.x, a_b.rot.y, a_b.rot.z, a_b.rot.w));
    move.SetTranslationPart(gp_Vec(a_b.r.x * 1e3, a_b.r.y * 1e3, a_b.r.z * 1e3));
    TopoDS_Shape moved = b.Moved(TopLoc_Location(move));
    double begin = processor_seconds();
    BRepExtrema_DistShapeShape distance(a, moved);
    double spent = processor_seconds() - begin;
    if (!distance.IsDone() || distance.NbSolution() == 0) return false;
    Vec3 p = pose_point(world_a, to_metres(distance.PointOnShape1(1), 1e-3));
    Vec3 q = pose_point(world_a, to_metres(distance.PointOnShape2(1), 1e-3));
    reply->distance = distance.Value() * 1e-3;
    reply->a[0] = p.x;
    reply->a[1] = p.y;
    reply->a[2] = p.z;
    reply->b[0] = q.x;
    reply->b[1] = q.y;
    reply->b[2] = q.z;
    reply->seconds = spent;
    return true;
}

} // namespace

int serve_queries(int input, int output) {
    Side sides[2];
    if (!receive_side(input, &sides[0]) || !receive_side(input, &sides[1])) return 1;
    TopoDS_Shape shapes[2];
    OcctOpenReply open;
    memset(&open, 0, sizeof open);
    LashError error = {};
    open.ok = guard(&error, "loading", [&] {
        for (int i = 0; i < 2; ++i) shapes[i] = load_side(sides[i]);
        return true;
    });
    snprintf(open.message, sizeof open.message, "%.470s", error.message);
    if (!answer(output, &open, sizeof open) || !open.ok) return 1;
    OcctPoseRequest request;
    while (receive(input, &request, sizeof request)) {
        OcctDistanceReply reply;
        memset(&reply, 0, sizeof reply);
        LashError ignored = {};
        reply.ok = guard(&ignored, "querying",
                         [&] { return query(shapes[0], shapes[1], request, &reply); });
        if (!answer(output, &reply, sizeof reply)) return 1;
    }
    return 0;
}

} // namespace lash
