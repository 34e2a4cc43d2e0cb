// Sizes with tolerances of AP242 files, attached to table faces.
//
//   dimensional_size (or _location) --applies to--> shape_aspect <--definition-- geometric_item_
//   specific_usage --> faces; its values: dimensional_characteristic_representation; its limits:
//   plus_minus_tolerance (two deviations, or a class of ISO 286), or items 'lower limit' and
//   'upper limit' among the values. A composite aspect stands for those related to it.
//
// The entities are read as they stand. OpenCASCADE's own table of dimensions (XCAFDoc_DimTolTool)
// takes the lower deviation without its sign, mangles a pair of negative ones (every shaft g6), and
// leaves values of a file in inches in inches (measured, 7.6.3).
//
// The nominal size is that of the face, 2 r; the annotation gives the limits. A size that differs
// from its face by more than 1 % is kept with a note and cannot be used.
#include <Interface_EntityIterator.hxx>
#include <Interface_InterfaceModel.hxx>
#include <STEPConstruct_UnitContext.hxx>
#include <StepAP242_GeometricItemSpecificUsage.hxx>
#include <StepBasic_MeasureWithUnit.hxx>
#include <StepBasic_NamedUnit.hxx>
#include <StepBasic_Unit.hxx>
#include <StepRepr_MeasureRepresentationItem.hxx>
#include <StepRepr_ReprItemAndMeasureWithUnit.hxx>
#include <StepRepr_RepresentationItem.hxx>
#include <StepRepr_ShapeAspect.hxx>
#include <StepRepr_ShapeAspectRelationship.hxx>
#include <StepShape_DimensionalCharacteristicRepresentation.hxx>
#include <StepShape_DimensionalLocation.hxx>
#include <StepShape_DimensionalSize.hxx>
#include <StepShape_HArray1OfShapeDimensionRepresentationItem.hxx>
#include <StepShape_LimitsAndFits.hxx>
#include <StepShape_PlusMinusTolerance.hxx>
#include <StepShape_ShapeDimensionRepresentation.hxx>
#include <StepShape_ToleranceValue.hxx>
#include <TopExp_Explorer.hxx>
#include <TransferBRep.hxx>
#include <Transfer_TransientProcess.hxx>
#include <XSControl_TransferReader.hxx>
#include <XSControl_WorkSession.hxx>
#include <algorithm>
#include <cmath>
#include <set>

#include "geometry/cad/occt_model.hpp"

namespace lash {
namespace {

const double agreement = 0.01; // of value and face: more is another face, unit or meaning

using Entity = Handle(Standard_Transient);
using Aspects = std::multimap<const void*, Entity>; // shape_aspect: faces, or aspects it is made of

std::string text_of(const Handle(TCollection_HAsciiString) & text) {
    std::string plain = text.IsNull() ? "" : text->ToCString();
    for (char& c : plain) c = (char)tolower((unsigned char)c);
    return plain;
}

// In millimetres or radians; NAN: no number or no unit of the kind.
double measure(const Handle(StepBasic_MeasureWithUnit) & value, bool angle) {
    if (value.IsNull()) return NAN;
    Handle(StepBasic_NamedUnit) unit = value->UnitComponent().NamedUnit();
    STEPConstruct_UnitContext context;
    if (unit.IsNull() || context.ComputeFactors(unit) != 0) return NAN;
    if (angle)
        return context.PlaneAngleDone() ? value->ValueComponent() * context.PlaneAngleFactor()
                                        : NAN;
    return context.LengthDone() ? value->ValueComponent() * context.LengthFactor() : NAN;
}

double measure_of(const Entity& entity, bool angle) {
    auto both = Handle(StepRepr_ReprItemAndMeasureWithUnit)::DownCast(entity);
    if (!both.IsNull()) return measure(both->GetMeasureWithUnit(), angle);
    auto item = Handle(StepRepr_MeasureRepresentationItem)::DownCast(entity);
    if (!item.IsNull()) return measure(item->Measure(), angle);
    return measure(Handle(StepBasic_MeasureWithUnit)::DownCast(entity), angle);
}

std::string name_of(const Entity& entity) {
    auto item = Handle(StepRepr_RepresentationItem)::DownCast(entity);
    auto both = Handle(StepRepr_ReprItemAndMeasureWithUnit)::DownCast(entity);
    if (!both.IsNull() && !both->GetRepresentationItem().IsNull())
        item = both->GetRepresentationItem();
    return item.IsNull() ? "" : text_of(item->Name());
}

Entity dimension_of(const StepShape_DimensionalCharacteristic& select) {
    return select.Value();
}

Aspects list_aspects(const Handle(Interface_InterfaceModel) & model) {
    Aspects aspects;
    for (int i = 1; i <= model->NbEntities(); ++i) {
        auto usage = Handle(StepAP242_GeometricItemSpecificUsage)::DownCast(model->Value(i));
        if (!usage.IsNull()) {
            Entity aspect = usage->Definition().Value();
            for (int k = 1; !aspect.IsNull() && k <= usage->NbIdentifiedItem(); ++k)
                aspects.emplace(aspect.get(), usage->IdentifiedItemValue(k));
            continue;
        }
        auto relation = Handle(StepRepr_ShapeAspectRelationship)::DownCast(model->Value(i));
        if (relation.IsNull() || relation->IsKind(STANDARD_TYPE(StepShape_DimensionalLocation)))
            continue;
        if (!relation->RelatingShapeAspect().IsNull() && !relation->RelatedShapeAspect().IsNull())
            aspects.emplace(relation->RelatingShapeAspect().get(), relation->RelatedShapeAspect());
    }
    return aspects;
}

struct Lookup {
    Aspects aspects;
    Handle(Transfer_TransientProcess) transfer;
};

void add_faces(const Lookup& lookup, const Entity& aspect, int depth,
               std::vector<const void*>* faces) {
    if (aspect.IsNull() || depth > 4) return;
    auto range = lookup.aspects.equal_range(aspect.get());
    for (auto it = range.first; it != range.second; ++it) {
        if (it->second->IsKind(STANDARD_TYPE(StepRepr_ShapeAspect))) {
            add_faces(lookup, it->second, depth + 1, faces);
            continue;
        }
        Handle(Transfer_Binder) binder = lookup.transfer->Find(it->second);
        TopoDS_Shape shape = binder.IsNull() ? TopoDS_Shape() : TransferBRep::ShapeResult(binder);
        if (shape.IsNull()) continue;
        for (TopExp_Explorer ex(shape, TopAbs_FACE); ex.More(); ex.Next())
            faces->push_back(ex.Current().TShape().get());
    }
}

LashSizeKind kind_of(const std::string& name, bool location, bool* is_radius) {
    bool angle =
        name.find("angular") != std::string::npos || name.find("angle") != std::string::npos;
    if (angle) return LASH_SIZE_ANGLE;
    *is_radius = name == "radius" || name == "spherical radius";
    if (*is_radius || name == "diameter" || name == "spherical diameter") return LASH_SIZE_DIAMETER;
    bool length = location || name == "thickness" || name.find("length") != std::string::npos;
    return length ? LASH_SIZE_LENGTH : LASH_SIZE_OTHER;
}

void take_values(const Handle(StepShape_ShapeDimensionRepresentation) & values, Size* size) {
    std::vector<Entity> items;
    if (values.IsNull()) return;
    for (int i = 1; !values->ItemsAP242().IsNull() && i <= values->ItemsAP242()->Length(); ++i)
        items.push_back(values->ItemsAP242()->Value(i).Value());
    bool old = items.empty(); // items of AP214
    for (int i = 1; old && i <= values->NbItems(); ++i) items.push_back(values->ItemsValue(i));
    double lower = NAN, upper = NAN;
    for (const Entity& item : items) {
        double value = measure_of(item, size->kind == LASH_SIZE_ANGLE);
        std::string name = name_of(item);
        if (std::isnan(value)) continue;
        if (name == "lower limit")
            lower = value;
        else if (name == "upper limit")
            upper = value;
        else if (std::isnan(size->stated))
            size->stated = value;
    }
    if (std::isnan(lower) || std::isnan(upper)) return;
    size->limits = true;
    size->lower = lower;
    size->upper = upper;
}

void take_tolerance(const Handle(StepShape_PlusMinusTolerance) & tolerance, Size* size) {
    Handle(StepShape_ToleranceValue) range = tolerance->Range().ToleranceValue();
    Handle(StepShape_LimitsAndFits) fit = tolerance->Range().LimitsAndFits();
    if (!range.IsNull()) {
        bool angle = size->kind == LASH_SIZE_ANGLE;
        size->limits = false;
        size->lower = measure_of(range->LowerBound(), angle);
        size->upper = measure_of(range->UpperBound(), angle);
        if (std::isnan(size->lower) || std::isnan(size->upper)) size->lower = size->upper = NAN;
    } else if (!fit.IsNull()) {
        std::string letters = text_of(fit->FormVariance());
        if (text_of(fit->ZoneVariance()) == "hole")
            for (char& c : letters) c = (char)toupper((unsigned char)c);
        size->class_name = letters + text_of(fit->Grade());
        if (size->class_name.size() > 12) size->class_name.resize(12);
    }
}

// Table faces of this part behind the TShapes.
std::vector<int> rows_of(const PartWork& w, int part, const std::vector<const void*>& faces,
                         const Tables& tables) {
    std::set<int> rows;
    for (const FaceWork& face : w.faces) {
        const void* own = face.face.TShape().get();
        if (std::find(faces.begin(), faces.end(), own) != faces.end())
            rows.insert(tables.part[part].first_face + face.group);
    }
    return std::vector<int>(rows.begin(), rows.end());
}

// Deviations of a diameter or length from `nominal`, or why there are none.
std::string judge(const Size& size, double metre, LashSize* row) {
    char text[200];
    double factor = metre * (size.is_radius ? 2 : 1);
    bool round = row->kind == LASH_SIZE_DIAMETER;
    if (row->kind == LASH_SIZE_ANGLE || row->kind == LASH_SIZE_OTHER) return "";
    if (round && std::isfinite(size.stated)) {
        double off = fabs(factor * size.stated / row->nominal - 1);
        if (off > agreement) {
            snprintf(text, sizeof text, "says %.6g mm, its face measures %.6g mm",
                     1e3 * factor * size.stated, 1e3 * row->nominal);
            return text;
        }
    }
    if (std::isnan(size.lower)) return size.class_name.empty() ? "without a tolerance" : "";
    double shift = size.limits ? row->nominal : 0;
    row->lower = factor * size.lower - shift;
    row->upper = factor * size.upper - shift;
    bool far = fmax(fabs(row->lower), fabs(row->upper)) > 0.1 * row->nominal;
    if (row->lower <= row->upper && !far) return "";
    snprintf(text, sizeof text, "limits %+.6g and %+.6g mm make no sense at %.6g mm",
             1e3 * row->lower, 1e3 * row->upper, 1e3 * row->nominal);
    row->lower = row->upper = NAN;
    return text;
}

} // namespace

void read_sizes(const Handle(XSControl_WorkSession) & session, Document* document) {
    Handle(Interface_InterfaceModel) model = session->Model();
    Lookup lookup = {list_aspects(model), session->TransferReader()->TransientProcess()};
    std::map<const void*, Handle(StepShape_ShapeDimensionRepresentation)> values;
    std::map<const void*, Handle(StepShape_PlusMinusTolerance)> tolerances;
    for (int i = 1; i <= model->NbEntities(); ++i) {
        Entity entity = model->Value(i);
        auto value = Handle(StepShape_DimensionalCharacteristicRepresentation)::DownCast(entity);
        auto tolerance = Handle(StepShape_PlusMinusTolerance)::DownCast(entity);
        if (!value.IsNull())
            values[dimension_of(value->Dimension()).get()] = value->Representation();
        if (!tolerance.IsNull())
            tolerances[dimension_of(tolerance->TolerancedDimension()).get()] = tolerance;
    }
    int count = 0, loose = 0;
    for (int i = 1; i <= model->NbEntities(); ++i) {
        Entity entity = model->Value(i);
        auto own = Handle(StepShape_DimensionalSize)::DownCast(entity);
        auto between = Handle(StepShape_DimensionalLocation)::DownCast(entity);
        if (own.IsNull() && between.IsNull()) continue;
        Size size;
        std::string name = text_of(own.IsNull() ? between->Name() : own->Name());
        size.kind = kind_of(name, own.IsNull(), &size.is_radius);
        if (!own.IsNull()) add_faces(lookup, own->AppliesTo(), 0, &size.first);
        if (!between.IsNull()) add_faces(lookup, between->RelatingShapeAspect(), 0, &size.first);
        if (!between.IsNull()) add_faces(lookup, between->RelatedShapeAspect(), 0, &size.second);
        if (values.count(entity.get()) > 0) take_values(values[entity.get()], &size);
        if (tolerances.count(entity.get()) > 0) take_tolerance(tolerances[entity.get()], &size);
        ++count;
        loose += size.first.empty() ? 1 : 0;
        if (!size.first.empty()) document->sizes.push_back(size);
    }
    if (loose > 0)
        document->warnings.push_back(std::to_string(loose) + " of " + std::to_string(count) +
                                     " dimensions of the file are attached to no face");
}

void write_sizes(const PartWork& w, int part, Tables* tables) {
    for (const Size& size : w.document->sizes) {
        std::vector<int> first = rows_of(w, part, size.first, *tables);
        std::vector<int> second = rows_of(w, part, size.second, *tables);
        for (int face : first) {
            LashSize row;
            memset(&row, 0, sizeof row);
            const LashFace& surface = tables->face[face];
            bool angle = size.kind == LASH_SIZE_ANGLE;
            double factor = (angle ? 1 : w.metre) * (size.is_radius ? 2 : 1);
            bool round = surface.type == LASH_CYLINDER || surface.type == LASH_SPHERE;
            row.kind = size.kind;
            row.part = part;
            row.face = face;
            row.face2 = second.empty() ? -1 : second[0];
            row.stated = factor * size.stated;
            row.lower = row.upper = NAN;
            if (row.kind == LASH_SIZE_DIAMETER && !round) row.kind = LASH_SIZE_OTHER;
            row.nominal = row.kind == LASH_SIZE_DIAMETER ? 2 * surface.radius : row.stated;
            if (!std::isfinite(row.nominal)) continue; // neither a face's size nor a stated one
            if (!size.class_name.empty()) row.class_name = tables->add_string(size.class_name);
            std::string note = judge(size, w.metre, &row);
            if (!note.empty()) row.note = tables->add_string(note);
            tables->size.push_back(row);
        }
    }
}

} // namespace lash
