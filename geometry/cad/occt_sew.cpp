// Loose faces that meet, as one shell.
//
// Surfaces taken out of a part are written one by one (a GEOMETRIC_SET): two halves of a bore share
// a seam, but not an edge of the B-rep. Sewn together their seams are seams again, not borders that
// could touch something, and halves become one face (group_faces). Each face keeps its place in the
// file's order. Faces that meet have one orientation, that of the first of them.
#include <BRepBndLib.hxx>
#include <BRepBuilderAPI_Sewing.hxx>
#include <BRep_Builder.hxx>
#include <Bnd_Box.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Compound.hxx>
#include <TopoDS_Iterator.hxx>
#include <algorithm>
#include <cmath>

#include "geometry/cad/occt_model.hpp"

namespace lash {
namespace {

// Of the diagonal: edges of two faces that are nearer are one. CAD systems write the same numbers
// for both; too large and the borders of narrow rings would be one (5 um of 3 mm, seen).
const double SEWN = 1e-6;

double tolerance_of(const TopoDS_Shape& shape) {
    Bnd_Box box;
    BRepBndLib::Add(shape, box, false);
    if (box.IsVoid()) return 1e-7;
    return std::max(1e-7, SEWN * std::sqrt(box.SquareExtent()));
}

template <typename Value>
void take_over(std::map<const void*, Value>* values, const TopoDS_Shape& from,
               const TopoDS_Shape& to) {
    auto found = values->find(from.TShape().get());
    if (found == values->end()) return;
    Value value = found->second;
    values->emplace(to.TShape().get(), value);
}

// The sewn face that took the place of `face`, with its orientation in its shell.
TopoDS_Shape successor(const BRepBuilderAPI_Sewing& sewing, const TopoDS_Shape& face,
                       const TopTools_IndexedMapOfShape& sewn) {
    TopoDS_Shape to = sewing.IsModifiedSubShape(face) ? sewing.ModifiedSubShape(face) : face;
    int at = sewn.FindIndex(to);
    return at > 0 ? sewn(at) : TopoDS_Shape();
}

} // namespace

TopoDS_Compound sew_faces(Document* document, const TopoDS_Compound& faces) {
    BRepBuilderAPI_Sewing sewing(tolerance_of(faces));
    sewing.SetFloatingEdgesMode(false);
    for (TopoDS_Iterator it(faces); it.More(); it.Next()) sewing.Add(it.Value());
    sewing.Perform();
    TopTools_IndexedMapOfShape sewn;
    std::vector<TopoDS_Shape> shells;
    for (TopExp_Explorer ex(sewing.SewedShape(), TopAbs_SHELL); ex.More(); ex.Next())
        shells.push_back(ex.Current());
    TopExp::MapShapes(sewing.SewedShape(), TopAbs_FACE, sewn);
    std::map<const void*, bool> turned; // per shell: against the first of its faces
    BRep_Builder builder;
    TopoDS_Compound result;
    builder.MakeCompound(result);
    for (TopoDS_Iterator it(faces); it.More(); it.Next()) {
        TopoDS_Shape to = successor(sewing, it.Value(), sewn);
        if (to.IsNull()) return faces; // cut or left out: as the file has them
        const void* shell = to.TShape().get();
        for (const TopoDS_Shape& s : shells)
            for (TopoDS_Iterator member(s); member.More(); member.Next())
                if (member.Value().IsSame(to)) {
                    shell = s.TShape().get();
                    to = member.Value();
                }
        auto first = turned.emplace(shell, to.Orientation() != it.Value().Orientation()).first;
        if (first->second) to.Reverse();
        take_over(&document->names, it.Value(), to);
        take_over(&document->colors, it.Value(), to);
        builder.Add(result, to);
    }
    return result;
}

} // namespace lash
