// Reading a STEP file with names, colours, assembly tree and units.
//
// OpenCASCADE stays in millimetres; `Document::metre` converts once. A scale override S [metres per
// number of the file] means metre = S / unit_mm.
#include <BRepBndLib.hxx>
#include <BRepLib.hxx>
#include <BRep_Builder.hxx>
#include <BRep_Tool.hxx>
#include <Bnd_Box.hxx>
#include <IFSelect_ReturnStatus.hxx>
#include <Interface_Check.hxx>
#include <Interface_InterfaceModel.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Quantity_ColorRGBA.hxx>
#include <STEPCAFControl_Controller.hxx>
#include <STEPCAFControl_Reader.hxx>
#include <ShapeBuild_ReShape.hxx>
#include <ShapeFix_Shape.hxx>
#include <StepBasic_SiUnitAndMassUnit.hxx>
#include <StepGeom_CartesianPoint.hxx>
#include <TColStd_SequenceOfAsciiString.hxx>
#include <TCollection_AsciiString.hxx>
#include <TCollection_HAsciiString.hxx>
#include <TDF_ChildIterator.hxx>
#include <TDF_LabelSequence.hxx>
#include <TDataStd_Name.hxx>
#include <TDataStd_TreeNode.hxx>
#include <TDocStd_Document.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Compound.hxx>
#include <TopoDS_Iterator.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_MaterialTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <set>

#include "geometry/cad/guard.hpp"
#include "geometry/cad/occt_model.hpp"

namespace lash {

void bad_input(const char* format, ...) {
    BadInput bad;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bad.message, sizeof bad.message, format, arguments);
    va_end(arguments);
    throw bad;
}

static char note[400];

const char* crash_note() {
    return note;
}

namespace {

// Errors of syntax and reference found while parsing. They need not matter (annotations), but if
// the transfer crashes they are the reason.
void note_mistakes(const Handle(Interface_InterfaceModel) & model) {
    int count = 0;
    char first[200] = "";
    for (int i = 1; i <= model->NbEntities(); ++i) {
        Handle(Interface_Check) check = model->Check(i, Standard_True);
        if (check.IsNull() || !check->HasFailed()) continue;
        if (count++ > 0) continue;
        Handle(TCollection_HAsciiString) label = model->StringLabel(model->Value(i));
        snprintf(first, sizeof first, "entity %s: %s", label.IsNull() ? "?" : label->ToCString(),
                 check->CFail(1));
    }
    if (count > 0)
        snprintf(note, sizeof note, "the STEP file is damaged: %d wrong %s, the first is %s", count,
                 count == 1 ? "entity" : "entities", first);
    else
        snprintf(note, sizeof note,
                 "OpenCASCADE crashed on this file, although its syntax is right");
}

// Points so far away that OpenCASCADE would search for them for hours.
void check_points(const Handle(Interface_InterfaceModel) & model) {
    for (int i = 1; i <= model->NbEntities(); ++i) {
        auto p = Handle(StepGeom_CartesianPoint)::DownCast(model->Value(i));
        for (int k = 1; !p.IsNull() && k <= p->NbCoordinates(); ++k) {
            double x = p->CoordinatesValue(k);
            if (fabs(x) <= 1e10) continue;
            Handle(TCollection_HAsciiString) label = model->StringLabel(p);
            bad_input("entity %s: coordinate %g is beyond any part",
                      label.IsNull() ? "?" : label->ToCString(), x);
        }
    }
}

struct Walk {
    Document* document;
    Handle(XCAFDoc_ShapeTool) shapes;
    Handle(XCAFDoc_ColorTool) colors;
    Handle(XCAFDoc_MaterialTool) materials;
    double grams;                // per mass unit of the file
    std::set<std::string> taken; // paths in use
};

std::string printable(std::string name) {
    while (!name.empty() && (name.back() == ' ' || name.back() == '\n')) name.pop_back();
    for (char& c : name)
        if ((unsigned char)c < 32 || c == 127) c = '_';
    return name;
}

std::string label_name(const TDF_Label& label) {
    Handle(TDataStd_Name) attribute;
    if (!label.FindAttribute(TDataStd_Name::GetID(), attribute)) return "";
    TCollection_AsciiString text(attribute->Get(), 0); // UTF-8
    return printable(text.ToCString());
}

// Names that CAD systems write when they have none.
bool is_no_name(const std::string& name) {
    return name.empty() || name == "NONE" || name == "None" || name == "none" || name == "$";
}

std::string unique_path(Walk* walk, const std::string& parent, std::string name) {
    for (char& c : name)
        if (c == '/') c = '_';
    std::string path = parent.empty() ? name : parent + "/" + name;
    for (int k = 2; !walk->taken.insert(path).second; ++k)
        path = (parent.empty() ? name : parent + "/" + name) + "#" + std::to_string(k);
    return path;
}

bool label_color(const Walk& walk, const TDF_Label& label, std::array<float, 4>* color) {
    Quantity_ColorRGBA c;
    if (!walk.colors->GetColor(label, XCAFDoc_ColorSurf, c) &&
        !walk.colors->GetColor(label, XCAFDoc_ColorGen, c))
        return false;
    const Quantity_Color& rgb = c.GetRGB();
    Standard_Real r, g, b;
    rgb.Values(r, g, b, Quantity_TOC_sRGB);
    *color = {(float)r, (float)g, (float)b, c.Alpha()};
    return true;
}

// Grams per mass unit of the file; 0: it has several, or one that we do not know. OpenCASCADE
// converts the length of densities to cm but leaves their mass as it stands in the file.
double grams_per_unit(const Handle(Interface_InterfaceModel) & model) {
    double found = 0;
    for (int i = 1; i <= model->NbEntities(); ++i) {
        Handle(StepBasic_SiUnitAndMassUnit) unit =
            Handle(StepBasic_SiUnitAndMassUnit)::DownCast(model->Value(i));
        if (unit.IsNull()) continue;
        double grams = unit->HasPrefix() ? 0 : 1;
        if (unit->HasPrefix() && unit->Prefix() == StepBasic_spKilo) grams = 1000;
        if (unit->HasPrefix() && unit->Prefix() == StepBasic_spMilli) grams = 1e-3;
        if (grams == 0 || (found > 0 && found != grams)) return 0;
        found = grams;
    }
    return found;
}

// Name and density of the material that a label refers to.
void label_material(const Walk& walk, const TDF_Label& label, Node* node) {
    Handle(TDataStd_TreeNode) link;
    if (!node->material.empty() || !label.FindAttribute(XCAFDoc::MaterialRefGUID(), link) ||
        !link->HasFather())
        return;
    Handle(TCollection_HAsciiString) name, description, kind, value;
    Standard_Real density = 0;
    if (!walk.materials->GetMaterial(link->Father()->Label(), name, description, density, kind,
                                     value))
        return;
    if (!name.IsNull()) node->material = printable(name->ToCString());
    density *= 1000 * walk.grams; // g/cm^3 in kg/m^3
    if (std::isfinite(density) && density > 0) node->density = density;
}

void read_sub_labels(Walk* walk, const TDF_Label& label) { // names and colours
    TDF_LabelSequence subs;
    walk->shapes->GetSubShapes(label, subs);
    for (int i = 1; i <= subs.Length(); ++i) {
        std::string name = label_name(subs.Value(i));
        TopoDS_Shape shape = walk->shapes->GetShape(subs.Value(i));
        std::array<float, 4> color;
        if (!shape.IsNull() && shape.ShapeType() == TopAbs_FACE &&
            label_color(*walk, subs.Value(i), &color))
            walk->document->colors.emplace(shape.TShape().get(), color);
        if (is_no_name(name) || shape.IsNull()) continue;
        if (shape.ShapeType() == TopAbs_FACE || shape.ShapeType() == TopAbs_EDGE ||
            shape.ShapeType() == TopAbs_SOLID || shape.ShapeType() == TopAbs_SHELL)
            walk->document->names.emplace(shape.TShape().get(), name);
    }
}

// The colour of a solid or of the first coloured face, when the part itself has none.
void sub_color(const Walk& walk, const TDF_Label& label, std::array<float, 4>* color) {
    TDF_LabelSequence subs;
    walk.shapes->GetSubShapes(label, subs);
    for (int i = 1; i <= subs.Length() && (*color)[3] == 0; ++i)
        label_color(walk, subs.Value(i), color);
}

// Solids, shells, loose faces and loose edges of a shape, each kind apart.
struct Contents {
    std::vector<TopoDS_Shape> solids, shells;
    TopoDS_Compound faces, edges;
    int face_count = 0, edge_count = 0;
};

void sort_contents(const TopoDS_Shape& shape, Contents* contents) {
    BRep_Builder builder;
    switch (shape.ShapeType()) {
        case TopAbs_COMPOUND:
        case TopAbs_COMPSOLID:
            for (TopoDS_Iterator it(shape); it.More(); it.Next())
                sort_contents(it.Value(), contents);
            break;
        case TopAbs_SOLID:
            contents->solids.push_back(shape);
            break;
        case TopAbs_SHELL:
            contents->shells.push_back(shape);
            break;
        case TopAbs_FACE:
            builder.Add(contents->faces, shape);
            ++contents->face_count;
            break;
        case TopAbs_WIRE:
            for (TopoDS_Iterator it(shape); it.More(); it.Next())
                sort_contents(it.Value(), contents);
            break;
        case TopAbs_EDGE:
            builder.Add(contents->edges, shape);
            ++contents->edge_count;
            break;
        default:
            break;
    }
}

void add_leaf(Walk* walk, Node node, const TopoDS_Shape& shape) {
    Contents c;
    BRep_Builder builder;
    builder.MakeCompound(c.faces);
    builder.MakeCompound(c.edges);
    sort_contents(shape, &c);
    std::vector<TopoDS_Shape> pieces = c.solids;
    pieces.insert(pieces.end(), c.shells.begin(), c.shells.end());
    if (c.face_count > 1) c.faces = sew_faces(walk->document, c.faces);
    if (c.face_count > 0) pieces.push_back(c.faces);
    if (c.edge_count > 0) pieces.push_back(c.edges);
    std::string parent = node.parent < 0 ? "" : walk->document->nodes[node.parent].name;
    std::string name = node.name;
    node.product = (int)walk->document->nodes.size(); // that of its first piece
    for (const TopoDS_Shape& piece : pieces) {
        auto own = walk->document->names.find(piece.TShape().get());
        bool named = pieces.size() > 1 && own != walk->document->names.end();
        node.name = unique_path(walk, parent, named ? own->second : name);
        node.shape = piece;
        walk->document->nodes.push_back(node);
    }
}

void add_label(Walk* walk, const TDF_Label& label, const TopLoc_Location& outer, int parent,
               int depth) {
    if (depth > 64) bad_input("the assembly is nested more than 64 deep");
    TDF_Label source = label;
    TopLoc_Location place = outer;
    Node node;
    node.parent = parent;
    node.name = label_name(label);
    label_color(*walk, label, &node.color);
    label_material(*walk, label, &node);
    if (XCAFDoc_ShapeTool::IsReference(label)) {
        place = outer * XCAFDoc_ShapeTool::GetLocation(label);
        XCAFDoc_ShapeTool::GetReferredShape(label, source);
        std::string own = label_name(source);
        if (is_no_name(node.name) || node.name.rfind("=>", 0) == 0) node.name = own;
        if (node.color[3] == 0) label_color(*walk, source, &node.color);
        label_material(*walk, source, &node);
    }
    if (is_no_name(node.name)) node.name = "part";
    node.placement = place.Transformation();
    read_sub_labels(walk, source);
    if (XCAFDoc_ShapeTool::IsAssembly(source)) {
        std::string up = parent < 0 ? "" : walk->document->nodes[parent].name;
        node.assembly = true;
        node.name = unique_path(walk, up, node.name);
        walk->document->nodes.push_back(node);
        int self = (int)walk->document->nodes.size() - 1;
        TDF_LabelSequence children;
        XCAFDoc_ShapeTool::GetComponents(source, children);
        for (int i = 1; i <= children.Length(); ++i)
            add_label(walk, children.Value(i), place, self, depth + 1);
        return;
    }
    sub_color(*walk, source, &node.color);
    TopoDS_Shape shape = XCAFDoc_ShapeTool::GetShape(source);
    // A free shape carries its location itself; a referred one is its prototype.
    if (!shape.IsNull()) add_leaf(walk, node, source.IsEqual(label) ? shape : shape.Located(place));
}

struct UnitName {
    const char* name;
    double mm;
};

// OpenCASCADE's spellings of length units.
const UnitName unit_names[] = {{"millimetre", 1},   {"metre", 1000},      {"centimetre", 10},
                               {"decimetre", 100},  {"micrometre", 1e-3}, {"micron", 1e-3},
                               {"inch", 25.4},      {"foot", 304.8},      {"kilometre", 1e6},
                               {"nanometre", 1e-6}, {"mil", 0.0254},      {"yard", 914.4}};

void read_units(STEPControl_Reader* reader, Document* document) {
    TColStd_SequenceOfAsciiString lengths, angles, solids;
    reader->FileUnits(lengths, angles, solids);
    std::string first;
    for (int i = 1; i <= lengths.Length(); ++i) {
        TCollection_AsciiString text = lengths.Value(i);
        text.LowerCase();
        std::string name = text.ToCString();
        if (first.empty()) first = name;
        if (name != first) {
            document->warnings.push_back("the file mixes length units (" + first + ", " + name +
                                         "); a scale override counts in the first");
            break;
        }
    }
    if (first.empty()) {
        document->warnings.push_back("the file declares no length unit; millimetres are assumed");
        first = "millimetre";
    }
    document->unit = first;
    for (const UnitName& u : unit_names)
        if (first == u.name || first == std::string(u.name) + "s") {
            document->unit_mm = u.mm;
            return;
        }
    document->warnings.push_back("unknown length unit " + first +
                                 "; a scale override counts in mm");
}

// A part smaller than 1 mm with a millimetre header: most likely metres. Of solids only: a surface
// taken out of a part may well be so small.
void judge_size(const ReadOptions& options, Document* document) {
    Bnd_Box box;
    bool solids = false;
    for (const Node& node : document->nodes) {
        if (node.shape.IsNull()) continue;
        BRepBndLib::Add(node.shape, box, Standard_False);
        solids = solids || TopExp_Explorer(node.shape, TopAbs_SOLID).More();
    }
    if (box.IsVoid()) return;
    double x0, y0, z0, x1, y1, z1;
    box.SetGap(0);
    box.Get(x0, y0, z0, x1, y1, z1);
    double size = std::max({x1 - x0, y1 - y0, z1 - z0}), numbers = size / document->unit_mm;
    char text[320];
    if (options.scale == 0 && document->unit_mm == 1 && numbers < 1 && solids) {
        snprintf(text, sizeof text,
                 "the whole model measures %.4g mm: these look like metre numbers under a "
                 "millimetre header; if so, override the scale: --scale 1 (metres per number)",
                 size);
        document->warnings.push_back(text);
    } else if (size * document->metre > 1000) {
        snprintf(text, sizeof text, "the model measures %.4g m: check the length unit (%s)",
                 size * document->metre, document->unit.c_str());
        document->warnings.push_back(text);
    }
}

// A healed face keeps its sizes.
void follow_sizes(const void* before, const void* now, Document* document) {
    for (Size& size : document->sizes)
        for (std::vector<const void*>* faces : {&size.first, &size.second})
            if (std::find(faces->begin(), faces->end(), before) != faces->end())
                faces->push_back(now);
}

void heal(Document* document) {
    for (Node& node : document->nodes) {
        if (node.shape.IsNull()) continue;
        std::map<const void*, std::string> renamed;
        Handle(ShapeFix_Shape) fix = new ShapeFix_Shape(node.shape);
        if (!fix->Perform()) continue;
        TopoDS_Shape healed = fix->Shape();
        if (healed.IsNull()) continue;
        Handle(ShapeBuild_ReShape) context = fix->Context();
        for (TopExp_Explorer ex(node.shape, TopAbs_FACE); ex.More(); ex.Next()) {
            const void* before = ex.Current().TShape().get();
            auto name = document->names.find(before);
            TopoDS_Shape now = context->Apply(ex.Current());
            if (now.IsNull()) continue;
            follow_sizes(before, now.TShape().get(), document);
            if (name != document->names.end()) renamed.emplace(now.TShape().get(), name->second);
        }
        document->names.insert(renamed.begin(), renamed.end());
        node.shape = healed;
        document->warnings.push_back(node.name + ": healed");
    }
}

void transfer(const ReadOptions& options, Document* document) {
    STEPCAFControl_Controller::Init();
    Interface_Static::SetCVal("xstep.cascade.unit", "MM");
    Interface_Static::SetIVal("read.stepcaf.subshapes.name", 1);
    Interface_Static::SetIVal("read.surfacecurve.mode", 0);
    STEPCAFControl_Reader reader;
    reader.SetColorMode(Standard_True);
    reader.SetNameMode(Standard_True);
    reader.SetLayerMode(Standard_False);
    reader.SetPropsMode(Standard_False);
    reader.SetGDTMode(Standard_False); // occt_sizes.cpp reads what we need
    reader.SetMatMode(Standard_True);
    reader.SetViewMode(Standard_False);
    if (reader.ReadFile(options.path.c_str()) != IFSelect_RetDone)
        bad_input("is not a readable STEP file (ISO 10303-21)");
    note_mistakes(reader.ChangeReader().Model());
    check_points(reader.ChangeReader().Model());
    read_units(&reader.ChangeReader(), document);
    document->metre = options.scale > 0 ? options.scale / document->unit_mm : 1e-3;
    Handle(XCAFApp_Application) application = XCAFApp_Application::GetApplication();
    Handle(TDocStd_Document) store;
    application->NewDocument("BinXCAF", store);
    if (!reader.Transfer(store)) bad_input("the STEP file holds no shape that can be transferred");
    Walk walk = {document,
                 XCAFDoc_DocumentTool::ShapeTool(store->Main()),
                 XCAFDoc_DocumentTool::ColorTool(store->Main()),
                 XCAFDoc_DocumentTool::MaterialTool(store->Main()),
                 grams_per_unit(reader.ChangeReader().Model()),
                 {}};
    TDF_LabelSequence roots;
    walk.shapes->GetFreeShapes(roots);
    for (int i = 1; i <= roots.Length(); ++i)
        add_label(&walk, roots.Value(i), TopLoc_Location(), -1, 0);
    if (options.pmi) read_sizes(reader.ChangeReader().WS(), document);
}

// A Part 21 file begins with "ISO-10303-21;". OpenCASCADE's parser tells less.
void check_begin(const std::string& path) {
    FILE* file = fopen(path.c_str(), "rb");
    if (file == nullptr) bad_input("cannot be opened");
    char text[4096];
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    if (n == 0) bad_input("the file is empty; expected a STEP file");
    if (strstr(text, "ISO-10303-21") == nullptr)
        bad_input(
            "is not a STEP file: ISO-10303-21 was expected at its begin; export it again as STEP");
}

} // namespace

void prepare_reading() {
    STEPCAFControl_Controller::Init();
    XCAFApp_Application::GetApplication();
}

Document read_step(const ReadOptions& options) {
    Document document;
    check_begin(options.path);
    transfer(options, &document);
    int geometry = 0;
    for (Node& node : document.nodes)
        if (!node.shape.IsNull()) {
            BRepLib::BuildCurves3d(node.shape);
            ++geometry;
        }
    if (geometry == 0)
        bad_input("the STEP file holds no solid, shell, face or edge that can be used");
    if (options.heal) heal(&document);
    judge_size(options, &document);
    return document;
}

} // namespace lash
