// lash-make-step: makes STEP parts with named faces from a parameter file.
//
//   lash-make-step PART.json OUT.step [--set name=value]...
//
// The same input gives the same bytes: no date, host or user is written. docs/geometry.md describes
// the format.
#include <APIHeaderSection_MakeHeader.hxx>
#include <BRepBuilderAPI_MakeEdge.hxx>
#include <BRep_Builder.hxx>
#include <IFSelect_ReturnStatus.hxx>
#include <Interface_Static.hxx>
#include <Message.hxx>
#include <Message_Messenger.hxx>
#include <Message_Printer.hxx>
#include <Quantity_Color.hxx>
#include <STEPCAFControl_Controller.hxx>
#include <STEPCAFControl_Writer.hxx>
#include <STEPConstruct.hxx>
#include <STEPControl_Reader.hxx>
#include <Standard_Failure.hxx>
#include <StepData_StepModel.hxx>
#include <StepRepr_RepresentationItem.hxx>
#include <StepShape_ConnectedFaceSet.hxx>
#include <StepShape_Face.hxx>
#include <TCollection_HAsciiString.hxx>
#include <TDataStd_Name.hxx>
#include <TDocStd_Document.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS_Compound.hxx>
#include <TopoDS_Edge.hxx>
#include <Transfer_FinderProcess.hxx>
#include <XCAFApp_Application.hxx>
#include <XCAFDoc_ColorTool.hxx>
#include <XCAFDoc_DocumentTool.hxx>
#include <XCAFDoc_MaterialTool.hxx>
#include <XCAFDoc_ShapeTool.hxx>
#include <XSControl_TransferWriter.hxx>
#include <XSControl_WorkSession.hxx>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "models/tools/sizes.hpp"
#include "models/tools/solid.hpp"

namespace make_step {
namespace {

// A parameter that is set and that the part does not have: wrong usage, not a wrong file.
struct Unknown : Mistake {
    using Mistake::Mistake;
};

struct Part {
    std::string name;
    std::string product; // of a shape placed again: its own name; empty: `name`
    Solid solid;
    gp_Trsf place;
    std::vector<double> color; // r, g, b or empty
    std::string material;      // empty: none
    double density = 0;        // [g/cm^3]
    std::string shared;        // not empty: parts of this text are instances of one shape
    std::vector<Size> sizes;   // toleranced diameters
    bool assembly = false;
    std::vector<Part> parts; // of an assembly
};

// The file that is read: where it stands, its root (for "shapes"), and how deep in shapes we are.
struct Source {
    std::string folder;
    const Value* root;
    int depth;
};

Part make_node(const Value& v, const Source& source);

using Labels = std::map<std::string, TDF_Label>;

// {"edge": [[x, y, z], [x, y, z]]}: a lone edge, for contact along a line.
Solid make_edges(const Value& list) {
    BRep_Builder builder;
    TopoDS_Compound compound;
    builder.MakeCompound(compound);
    for (const Value& v : list.items()) {
        std::vector<Value> ends = v.items();
        if (ends.size() != 2) v.fail("two points are expected");
        std::vector<double> a = ends[0].numbers(3), b = ends[1].numbers(3);
        builder.Add(
            compound,
            BRepBuilderAPI_MakeEdge(gp_Pnt(a[0], a[1], a[2]), gp_Pnt(b[0], b[1], b[2])).Edge());
    }
    Solid s;
    s.shape = compound;
    return s;
}

Part make_part(const Value& v, bool root) {
    std::set<std::string> keys = {"name",  "color", "material", "steps", "edges",
                                  "names", "only",  "reversed", "join",  "bspline",
                                  "at",    "axis",  "x",        "sizes"};
    if (root) keys.insert({"format", "parameters", "unit", "comment"});
    v.only(keys);
    Part part;
    part.name = v.text("name", "part");
    if (v.has("color")) part.color = v.at("color").numbers(3);
    if (v.has("material")) {
        Value material = v.at("material");
        material.only({"name", "density"});
        part.material = material.text("name", "");
        part.density = material.number("density", 0);
    }
    part.solid = v.has("edges") ? make_edges(v.at("edges"))
                                : make_solid(v.at("steps"), v.flag("join", true));
    if (v.has("names")) name_faces(v.at("names"), &part.solid);
    if (v.has("sizes")) part.sizes = read_sizes(v.at("sizes"), part.solid);
    if (v.has("only")) {
        std::vector<std::string> names;
        for (const Value& n : v.at("only").items()) names.push_back(n.text());
        keep_only(names, &part.solid);
    }
    if (v.flag("bspline", false)) to_bsplines(&part.solid);
    if (v.flag("reversed", false)) turn_inside_out(&part.solid);
    part.place = read_place(v);
    return part;
}

std::string read_text(const char* path) {
    FILE* file = fopen(path, "rb");
    if (file == nullptr) throw Mistake(std::string(path) + ": cannot be read");
    std::string all;
    char buffer[65536];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, file)) > 0) all.append(buffer, n);
    fclose(file);
    return all;
}

using Json = std::unique_ptr<cJSON, void (*)(cJSON*)>;

Json parse(const std::string& source, const char* path) {
    const char* end = nullptr;
    Json json(cJSON_ParseWithOpts(source.c_str(), &end, 1), cJSON_Delete);
    if (json) return json;
    long line = 1;
    for (const char* p = source.c_str(); p < end; ++p) line += *p == '\n';
    throw Mistake(std::string(path) + ": no valid JSON near line " + std::to_string(line));
}

// "; it has a, b" or "; it has none"
std::string known_parameters(const Value& root) {
    std::string list;
    if (root.has("parameters"))
        for (const std::string& key : root.at("parameters").keys())
            list += (list.empty() ? "" : ", ") + key;
    return "; it has " + (list.empty() ? "none" : list);
}

// Those of the file that are not set already. What is set must be one of them.
void take_parameters(const Value& root, Parameters* parameters) {
    if (root.text("format", "") != "lash-step/1")
        root.fail("expected \"format\": \"lash-step/1\", found \"" + root.text("format", "") +
                  "\"; docs/geometry.md describes part files");
    for (const std::string& name : parameters->names())
        if (!root.has("parameters") || !root.at("parameters").has(name.c_str()))
            throw Unknown("--set: the part has no parameter '" + name + "'" +
                          known_parameters(root));
    if (!root.has("parameters")) return;
    for (const std::string& key : root.at("parameters").keys())
        if (!parameters->has(key)) parameters->set(key, root.at("parameters").number(key.c_str()));
}

std::string beside(const std::string& folder, const std::string& name) {
    return !name.empty() && name[0] == '/' ? name : folder + name;
}

void mirror_part(const Value& v, const std::string& mirror, Part* part) {
    if (mirror != "x" && mirror != "y" && mirror != "z") v.fail("'mirror' must be x, y or z");
    gp_Dir normal = mirror == "x" ? gp::DX() : gp::DY();
    if (mirror == "z") normal = gp::DZ();
    part->solid = mirrored(part->solid, normal);
}

// {"file": "crank.json", "set": {"play": 0}, "name": ..., "at": ...}: the part of another file,
// which stands beside this one. The same file with the same values is one shape, placed again.
// "steps" here come after those of the file: bolt holes, a foot.
Part part_of_file(const Value& v, const std::string& folder) {
    v.only({"file", "set", "name", "at", "axis", "x", "mirror", "steps"});
    std::string path = beside(folder, v.text("file", "")), mirror = v.text("mirror", "");
    std::string shared = path + "|" + mirror, source = read_text(path.c_str());
    Parameters parameters;
    if (v.has("set"))
        for (const std::string& key : v.at("set").keys()) {
            double value = v.at("set").number(key.c_str());
            parameters.set(key, value);
            shared += "|" + key + "=" + std::to_string(value);
        }
    Json json = parse(source, path.c_str());
    Value root(json.get(), "", &parameters);
    take_parameters(root, &parameters);
    Part part = make_part(root, true);
    if (v.has("steps")) {
        add_steps(v.at("steps"), &part.solid);
        shared += v.path(); // not the shape of the file any more
    }
    if (!mirror.empty()) mirror_part(v, mirror, &part);
    part.name = v.text("name", part.name);
    part.place = read_place(v);
    part.shared = shared;
    return part;
}

// {"step": "crank.step", "name": ..., "at": ...}: what a STEP file holds, as one part.
Part part_of_step(const Value& v, const std::string& folder) {
    v.only({"step", "name", "at", "axis", "x"});
    std::string path = beside(folder, v.text("step", ""));
    STEPControl_Reader reader;
    if (reader.ReadFile(path.c_str()) != IFSelect_RetDone || reader.TransferRoots() == 0)
        throw Mistake(path + ": cannot be read as STEP");
    Part part;
    part.solid.shape = reader.OneShape();
    part.name = v.text("name", "part");
    part.place = read_place(v);
    return part;
}

// {"shape": "screw", "name": ..., "at": ..., "mirror": "x"}: a part or an assembly described once
// under "shapes" at the top of the file; each use places it again. A mirrored part is a shape of
// its own, as CAD programs write it.
Part part_of_shape(const Value& v, const Source& source) {
    v.only({"shape", "name", "at", "axis", "x", "mirror"});
    std::string name = v.text("shape", ""), mirror = v.text("mirror", "");
    if (!source.root->has("shapes") || !source.root->at("shapes").has(name.c_str()))
        v.fail("there is no shape '" + name + "' under 'shapes'");
    if (source.depth > 20) v.fail("'shapes' contain each other");
    Part part = make_node(source.root->at("shapes").at(name.c_str()),
                          {source.folder, source.root, source.depth + 1});
    if (!mirror.empty()) {
        if (part.assembly) v.fail("an assembly cannot be mirrored, only a part");
        mirror_part(v, mirror, &part);
    }
    part.product = name;
    part.name = v.text("name", name);
    part.place = read_place(v);
    part.shared = "shape|" + name + "|" + mirror;
    return part;
}

// A part, a shape again, a part of another file, a STEP file, or an assembly of them:
// {"name": ..., "parts": [...]}.
Part make_node(const Value& v, const Source& source) {
    if (v.has("shape")) return part_of_shape(v, source);
    if (v.has("file")) return part_of_file(v, source.folder);
    if (v.has("step")) return part_of_step(v, source.folder);
    if (!v.has("parts")) return make_part(v, false);
    v.only({"name", "parts", "at", "axis", "x"});
    Part assembly;
    assembly.assembly = true;
    assembly.name = v.text("name", "assembly");
    assembly.place = read_place(v);
    for (const Value& item : v.at("parts").items())
        assembly.parts.push_back(make_node(item, source));
    if (assembly.parts.empty()) v.fail("'parts' is empty");
    return assembly;
}

const std::string& product_name(const Part& part) {
    return part.product.empty() ? part.name : part.product;
}

Handle(TCollection_HAsciiString) text(const char* s) {
    return new TCollection_HAsciiString(s);
}

TDF_Label add_part(const Part& part, double unit, const Handle(TDocStd_Document) & document) {
    Handle(XCAFDoc_ShapeTool) shapes = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    Handle(XCAFDoc_ColorTool) colors = XCAFDoc_DocumentTool::ColorTool(document->Main());
    TDF_Label label = shapes->AddShape(part.solid.shape, Standard_False);
    TDataStd_Name::Set(label, product_name(part).c_str());
    if (!part.color.empty())
        colors->SetColor(
            label, Quantity_Color(part.color[0], part.color[1], part.color[2], Quantity_TOC_sRGB),
            XCAFDoc_ColorGen);
    if (!part.material.empty())
        XCAFDoc_DocumentTool::MaterialTool(document->Main())
            ->SetMaterial(label, text(part.material.c_str()), text(""), part.density,
                          text("density measure"), text("POSITIVE_RATIO_MEASURE"));
    for (TopExp_Explorer ex(part.solid.shape, TopAbs_FACE); ex.More(); ex.Next())
        for (const NamedFace& n : part.solid.names) {
            if (!n.face.IsSame(ex.Current())) continue;
            TDF_Label sub = shapes->AddSubShape(label, ex.Current());
            if (!sub.IsNull()) TDataStd_Name::Set(sub, n.name.c_str());
        }
    add_sizes(part.sizes, part.solid, label, unit, document);
    return label;
}

// A header that does not tell when, where and by whom.
void clean_header(STEPCAFControl_Writer* writer, const std::string& name) {
    Handle(StepData_StepModel) model =
        Handle(StepData_StepModel)::DownCast(writer->ChangeWriter().WS()->Model());
    APIHeaderSection_MakeHeader header(model);
    header.SetName(text(name.c_str()));
    header.SetTimeStamp(text("2000-01-01T00:00:00"));
    header.SetAuthorValue(1, text("Lash"));
    header.SetOrganizationValue(1, text(""));
    header.SetPreprocessorVersion(text("lash-make-step"));
    header.SetOriginatingSystem(text("lash-make-step"));
    header.SetAuthorisation(text(""));
    header.SetDescriptionValue(1, text("made by lash-make-step"));
}

TDF_Label add_node(const Part& part, double unit, const Handle(TDocStd_Document) & document,
                   Labels* labels) {
    Handle(XCAFDoc_ShapeTool) shapes = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    auto known = part.shared.empty() ? labels->end() : labels->find(part.shared);
    if (known != labels->end()) return known->second;
    if (!part.assembly) {
        TDF_Label label = add_part(part, unit, document);
        if (!part.shared.empty()) (*labels)[part.shared] = label;
        return label;
    }
    TDF_Label assembly = shapes->NewShape();
    TDataStd_Name::Set(assembly, product_name(part).c_str());
    for (const Part& child : part.parts) {
        TDF_Label label = add_node(child, unit, document, labels);
        TDF_Label component = shapes->AddComponent(assembly, label, TopLoc_Location(child.place));
        TDataStd_Name::Set(component, child.name.c_str());
    }
    if (!part.shared.empty()) (*labels)[part.shared] = assembly;
    return assembly;
}

double unit_mm(const std::string& unit) {
    if (unit == "M") return 1000;
    if (unit == "CM") return 10;
    return unit == "INCH" ? 25.4 : 1;
}

bool has_sizes(const std::vector<Part>& parts) {
    for (const Part& part : parts)
        if (!part.sizes.empty() || has_sizes(part.parts)) return true;
    return false;
}

using Finder = Handle(Transfer_FinderProcess);

// The faces of a shell as they were written: in the order of the shell.
Handle(StepShape_ConnectedFaceSet) written_faces(const TopoDS_Shape& shell, const Finder& finder) {
    Handle(StepRepr_RepresentationItem) item = STEPConstruct::FindEntity(finder, shell);
    return Handle(StepShape_ConnectedFaceSet)::DownCast(item);
}

// The writer forgets which face it wrote of one that has holes or is closed both ways, and its
// name with it. Such a face is known by its place in the shell.
void name_lost_faces(const Part& part, const Finder& finder) {
    for (const Part& child : part.parts) name_lost_faces(child, finder);
    if (part.assembly) return;
    for (TopExp_Explorer shell(part.solid.shape, TopAbs_SHELL); shell.More(); shell.Next()) {
        Handle(StepShape_ConnectedFaceSet) written = written_faces(shell.Current(), finder);
        int i = 0;
        for (TopExp_Explorer ex(shell.Current(), TopAbs_FACE); ex.More(); ex.Next()) {
            if (written.IsNull() || ++i > written->NbCfsFaces()) break;
            Handle(StepShape_Face) face = written->CfsFacesValue(i);
            for (const NamedFace& n : part.solid.names)
                if (n.face.IsSame(ex.Current()) && face->Name()->IsEmpty())
                    face->SetName(text(n.name.c_str()));
        }
    }
}

void write_parts(const std::vector<Part>& parts, const std::string& name, const std::string& unit,
                 const char* path) {
    Handle(XCAFApp_Application) application = XCAFApp_Application::GetApplication();
    Handle(TDocStd_Document) document;
    application->NewDocument("BinXCAF", document);
    Handle(XCAFDoc_ShapeTool) shapes = XCAFDoc_DocumentTool::ShapeTool(document->Main());
    if (parts.size() == 1 && !parts[0].assembly) {
        add_part(parts[0], unit_mm(unit), document);
    } else {
        Labels labels;
        Part root;
        root.name = name;
        root.assembly = true;
        root.parts = parts;
        add_node(root, unit_mm(unit), document, &labels);
        shapes->UpdateAssemblies();
    }
    STEPCAFControl_Controller::Init();
    Interface_Static::SetCVal("xstep.cascade.unit", "MM");
    Interface_Static::SetIVal("write.stepcaf.subshapes.name", 1);
    Interface_Static::SetCVal("write.step.unit", unit.c_str());
    if (has_sizes(parts)) Interface_Static::SetCVal("write.step.schema", "AP242DIS");
    STEPCAFControl_Writer writer;
    writer.SetDimTolMode(has_sizes(parts));
    writer.SetNameMode(Standard_True);
    writer.SetColorMode(Standard_True);
    writer.SetMaterialMode(Standard_True);
    if (!writer.Transfer(document, STEPControl_AsIs))
        throw Mistake("the part cannot be written as STEP");
    Handle(XSControl_WorkSession) session = writer.ChangeWriter().WS();
    for (const Part& part : parts)
        name_lost_faces(part, session->TransferWriter()->FinderProcess());
    clean_header(&writer, name);
    if (writer.Write(path) != IFSelect_RetDone)
        throw Mistake(std::string(path) + ": cannot be written");
}

void run(const char* input, const char* output, Parameters* parameters) {
    std::string source = read_text(input), folder = input;
    folder.erase(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    Json json = parse(source, input);
    Value root(json.get(), "", parameters);
    take_parameters(root, parameters);
    std::vector<Part> parts;
    std::string name = root.text("name", "part"), unit = root.text("unit", "MM");
    if (unit != "MM" && unit != "M" && unit != "INCH" && unit != "CM")
        root.fail("'unit' must be MM, CM, M or INCH");
    if (root.has("parts")) {
        root.only({"format", "name", "parameters", "unit", "comment", "parts", "shapes"});
        for (const Value& v : root.at("parts").items())
            parts.push_back(make_node(v, {folder, &root, 0}));
        if (parts.empty()) root.fail("'parts' is empty");
    } else {
        parts.push_back(make_part(root, true));
    }
    write_parts(parts, name, unit, output);
}

} // namespace
} // namespace make_step

#if defined(__SANITIZE_ADDRESS__)
// OpenCASCADE keeps its tables until the process ends.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0";
}
#endif

namespace {

const char usage[] = "usage: lash-make-step [--set NAME=VALUE]... PART.json OUT.step";

void print_help() {
    printf(
        "lash-make-step: makes a STEP file with named faces from a part file\n\n%s\n\n"
        "A part file is JSON, \"format\": \"lash-step/1\": bodies that are added, cut and "
        "rounded,\n"
        "names of faces, parameters, or a list of parts that makes an assembly; docs/geometry.md\n"
        "and the page lash-make-step(1) describe it. Lengths are millimetres, angles degrees. The\n"
        "same file gives the same bytes.\n\n"
        "options:\n"
        "  --set NAME=VALUE           give a parameter of the part another value (may be "
        "repeated)\n"
        "  -h, --help                 this help\n\n"
        "Exit codes: 0 ok, 2 usage, 3 part file, 4 CAD, 7 input/output.\n",
        usage);
}

int fail_usage(const std::string& message) {
    fprintf(stderr, "lash-make-step: %s\n%s\n", message.c_str(), usage);
    return 2;
}

// "name=value" into parameters; empty, or what is wrong with it.
std::string read_set(const std::string& text, make_step::Parameters* parameters) {
    size_t equal = text.find('=');
    std::string found = "--set: expected NAME=VALUE, found '" + text + "'";
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size()) return found;
    char* end = nullptr;
    double value = strtod(text.c_str() + equal + 1, &end);
    if (*end == ',') return found + "; decimals have a point, not a comma";
    if (*end != '\0') return found + "; the value must be a number";
    parameters->set(text.substr(0, equal), value);
    return "";
}

} // namespace

int main(int argc, char** argv) {
    std::vector<const char*> files;
    make_step::Parameters parameters;
    Message::DefaultMessenger()->RemovePrinters(STANDARD_TYPE(Message_Printer));
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i], wrong;
        if (word == "-h" || word == "--help") {
            print_help();
            return fflush(stdout) == 0 ? 0 : 7;
        }
        if (word == "--set" && i + 1 == argc) return fail_usage("--set needs a value: NAME=VALUE");
        if (word == "--set")
            wrong = read_set(argv[++i], &parameters);
        else if (word.compare(0, 6, "--set=") == 0)
            wrong = read_set(word.substr(6), &parameters);
        else if (word[0] == '-' && word.size() > 1)
            return fail_usage("unknown option '" + word + "'");
        else
            files.push_back(argv[i]);
        if (!wrong.empty()) return fail_usage(wrong);
    }
    if (files.size() != 2)
        return fail_usage("expected two files, found " + std::to_string(files.size()));
    FILE* input = fopen(files[0], "rb");
    if (input == nullptr) {
        fprintf(stderr, "lash-make-step: %s: cannot open: %s\n", files[0], strerror(errno));
        return 7;
    }
    fclose(input);
    try {
        make_step::run(files[0], files[1], &parameters);
        return 0;
    } catch (const make_step::Mistake& mistake) {
        fprintf(stderr, "lash-make-step: %s: %s\n", files[0], mistake.what());
        return dynamic_cast<const make_step::Unknown*>(&mistake) != nullptr ? 2 : 3;
    } catch (const Standard_Failure& failure) {
        fprintf(stderr, "lash-make-step: %s: OpenCASCADE failed: %s %s\n", files[0],
                failure.DynamicType()->Name(), failure.GetMessageString());
        return 4;
    }
}
