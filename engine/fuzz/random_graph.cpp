// Adds random operators one by one, and computes their values on the way.
#include "engine/fuzz/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "engine/core/hash.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/fuzz/quantised_part.h"
#include "engine/operators/graph_builder.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;
using operators::OperatorSchema;

constexpr std::uint32_t least_nodes = 2;
constexpr std::uint32_t most_nodes = 20;
constexpr int most_graph_attempts = 20;
/// Larger numbers may overflow in the next node, which makes its result unspecified.
constexpr double largest_tame = 1000;

/// Operators with only one input and one output of the same sizes and type.
constexpr std::array<std::string_view, 6> simple{"ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_ABS",   "ACTIVATION_RELU",
                                                 "ACTIVATION_TANH",       "ACTIVATION_SIGMOID", "ACTIVATION_SOFTSIGN"};

struct Value {
    std::string name;
    core::Tensor tensor;
    /// True if all numbers are finite and of moderate size.
    bool is_tame = false;
    bool is_read = false;
    /// False if engines may leave a part of it as it was. No node reads such a value.
    bool is_whole = true;
};

std::vector<const OperatorSchema*> usable_operators(core::FeatureLevel level) {
    std::vector<const OperatorSchema*> usable;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema* schema = operators::find_operator(name);
        if (cpu::has_reference(*schema) && schema->introduced <= level) {
            usable.push_back(schema);
        }
    }
    return usable;
}

bool is_tame(const core::Tensor& tensor) {
    if (!core::is_floating_point(tensor.desc.data_type)) {
        return false;
    }
    const core::Tensor packed = core::packed_copy(tensor);
    return core::with_type(tensor.desc.data_type, [&]<class T>() {
        const auto elements = packed.as<T>().first(static_cast<std::size_t>(*core::element_count(tensor.desc.sizes)));
        return std::ranges::all_of(elements,
                                   [](const T& x) { return std::fabs(static_cast<double>(x)) <= largest_tame; });
    });
}

class GraphMaker {
public:
    GraphMaker(const GeneratorSettings& settings, std::uint64_t number)
        : settings_(settings),
          operators_(usable_operators(settings.level)),
          random_(cases::random_bits(settings.seed ^ core::fnv1a("GRAPH"), number)) {
        settings_.perturbed_percent = 0;
        settings_.extreme_percent = 0;
    }

    std::optional<cases::Case> make() {
        const std::uint32_t count = random_.pick(least_nodes, most_nodes);
        for (int failures = 0; nodes_ < count && failures < most_graph_attempts;) {
            const bool made = nodes_ > 0 && random_.chance(1, 3)   ? add_simple_reader()
                              : nodes_ > 0 && random_.chance(1, 6) ? add_quantised()
                                                                   : add_any_operator();
            failures += made ? 0 : 1;
        }
        if (nodes_ < least_nodes) {
            return std::nullopt;
        }
        return finish();
    }

private:
    /// Adds a random case of a random operator, whose inputs are existing values if possible.
    bool add_any_operator() {
        const OperatorSchema& schema = *random_.one_of(operators_);
        GeneratorSettings settings = settings_;
        settings.seed = random_.bits();
        auto made = generate(schema, settings, 0);
        if (!made || made->expect_error) {
            return false;
        }
        auto plain = std::make_shared<Descriptor>(*made->descriptor);
        plain->in_place.clear();
        const auto slots = plain->inputs();
        const bool too_small = std::ranges::any_of(slots, [](const operators::TensorSlot& slot) {
            return slot.desc != nullptr && core::bytes_of(slot.desc->data_type) == 0;
        });
        if (too_small) {
            return false;
        }
        std::vector<std::string> reads(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc != nullptr) {
                const ElementKind kind = find_fuzz(schema).element_kind(*plain, slots[i].name);
                reads[i] = input_for(*slots[i].desc, kind, *made->inputs[i]);
            }
        }
        return add_node(std::move(plain), reads);
    }

    /// The name of a value that fits, or of a new one.
    std::string input_for(const core::TensorDesc& desc, ElementKind kind, const cases::Initialiser& data) {
        const bool may_be_computed = desc.flags == core::TensorFlags::none && core::is_packed(desc) &&
                                     (kind == ElementKind::bits || kind == ElementKind::ordered ||
                                      kind == ElementKind::number || kind == ElementKind::integer);
        if (may_be_computed && random_.chance(4, 5)) {
            for (std::size_t i = values_.size(); i-- > 0;) {
                Value& value = values_[i];
                const bool fits = value.tensor.desc.data_type == desc.data_type && core::is_packed(value.tensor.desc) &&
                                  value.tensor.desc.total_bytes == desc.total_bytes &&
                                  core::element_count(value.tensor.desc.sizes) == core::element_count(desc.sizes);
                if (fits && value.is_whole && (kind == ElementKind::bits || value.is_tame) &&
                    value.tensor.desc.flags == desc.flags) {
                    value.is_read = true;
                    return value.name;
                }
            }
        }
        const std::string input = add_input(desc, data);
        if (may_be_computed && core::is_floating_point(desc.data_type) && values_.back().is_tame &&
            random_.chance(1, 2)) {
            if (const auto computed = add_simple(values_.size() - 1)) {
                values_.back().is_read = true;
                return *computed;
            }
        }
        values_.back().is_read = true;
        return input;
    }

    std::string add_input(const core::TensorDesc& desc, const cases::Initialiser& data) {
        core::Tensor tensor(desc);
        (void)data.fill(tensor);  // the elements are in memory, so this cannot fail
        const std::string name = fmt::format("x{}", inputs_.size());
        inputs_.emplace_back(name, data);
        const bool tame = is_tame(tensor);
        values_.push_back({name, std::move(tensor), tame, true});
        return name;
    }

    /// Adds a node that reads a value as it is, or as one row of elements. Its output becomes the last value.
    std::optional<std::string> add_simple(std::size_t index) {
        core::TensorDesc desc = values_[index].tensor.desc;
        if (core::is_packed(desc) && desc == core::TensorDesc::packed(desc.data_type, desc.sizes) &&
            random_.chance(1, 4)) {
            desc = core::TensorDesc::packed(desc.data_type,
                                            {1, 1, 1, static_cast<std::uint32_t>(*core::element_count(desc.sizes))});
        }
        const OperatorSchema* schema = operators::find_operator(random_.one_of(simple));
        auto node = std::make_shared<Descriptor>();
        node->schema = schema;
        for (const operators::Field& field : schema->fields) {
            node->values.push_back(field.is_tensor() ? operators::FieldValue(desc) : operators::FieldValue());
        }
        const core::TensorDesc packed = core::TensorDesc::packed(desc.data_type, desc.sizes);
        std::get<core::TensorDesc>(node->values[1]) = packed;
        const std::string name = values_[index].name;
        if (operators::validate(*node, settings_.level) || !add_node(std::move(node), {name})) {
            return std::nullopt;
        }
        values_[index].is_read = true;
        return values_.back().name;
    }

    bool add_simple_reader() {
        const auto index = random_.below(static_cast<std::uint32_t>(values_.size()));
        const Value& value = values_[index];
        return core::is_floating_point(value.tensor.desc.data_type) &&
               value.tensor.desc.flags == core::TensorFlags::none && add_simple(index).has_value();
    }

    /// Adds nodes that quantise a value and compute with integers.
    bool add_quantised() {
        const auto index = random_.below(static_cast<std::uint32_t>(values_.size()));
        const core::TensorDesc& desc = values_[index].tensor.desc;
        if (desc != core::TensorDesc::packed(core::DataType::float32, desc.sizes) || !values_[index].is_tame) {
            return false;
        }
        const QuantisedSource source{values_[index].name, desc.sizes, largest_of(values_[index].tensor)};
        PartSink sink;
        sink.add_input = [&](const core::TensorDesc& input, std::vector<std::byte> elements) {
            return add_input(input, cases::given_elements(std::move(elements)));
        };
        sink.add_node = [&](std::shared_ptr<const Descriptor> node,
                            const std::vector<std::string>& reads) -> std::optional<std::vector<std::string>> {
            if (operators::validate(*node, settings_.level)) {
                return std::nullopt;
            }
            const std::size_t before = values_.size();
            if (!add_node(std::move(node), reads)) {
                return std::nullopt;
            }
            for (const std::string& name : reads) {
                if (const auto read = std::ranges::find(values_, name, &Value::name); read != values_.end()) {
                    read->is_read = true;
                }
            }
            std::vector<std::string> written;
            for (std::size_t i = before; i < values_.size(); ++i) {
                written.push_back(values_[i].name);
            }
            return written;
        };
        return add_quantised_part(random_, source, sink);
    }

    static double largest_of(const core::Tensor& tensor) {
        double largest = 0;
        for (const float x : tensor.as<float>()) {
            largest = std::max(largest, double{std::fabs(x)});
        }
        return largest;
    }

    bool add_node(std::shared_ptr<const Descriptor> descriptor, const std::vector<std::string>& reads) {
        std::vector<core::Tensor> views;
        views.reserve(reads.size());
        std::vector<const core::Tensor*> inputs;
        const auto slots = descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            inputs.push_back(slots[i].desc == nullptr ? nullptr : &views.emplace_back(seen(reads[i], *slots[i].desc)));
        }
        const std::string name = fmt::format("n{}", nodes_);
        std::vector<std::string> writes;
        for (std::size_t i = 0; i < descriptor->outputs().size(); ++i) {
            writes.push_back(descriptor->outputs().size() == 1 ? fmt::format("v{}", nodes_)
                                                               : fmt::format("v{}.{}", nodes_, i));
        }
        if (!builder_.add_node(name, descriptor, reads, writes)) {
            return false;
        }
        ++nodes_;
        auto outputs = cpu::compute_outputs(*descriptor, inputs);
        const auto output_slots = descriptor->outputs();
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (output_slots[i].desc != nullptr) {
                const bool tame = core::bytes_of(output_slots[i].desc->data_type) != 0 && is_tame(outputs[i]);
                const bool whole = !cpu::default_tolerance(*descriptor, output_slots[i]).meaningful_part;
                values_.push_back({writes[i], std::move(outputs[i]), tame, false, whole});
            }
        }
        return true;
    }

    [[nodiscard]] core::Tensor seen(const std::string& name, const core::TensorDesc& desc) const {
        const auto value = std::ranges::find(values_, name, &Value::name);
        core::Tensor tensor(desc);
        const auto from = value->tensor.buffer.bytes();
        const auto to = tensor.buffer.bytes();
        std::copy_n(from.begin(), std::min(from.size(), to.size()), to.begin());
        return tensor;
    }

    std::optional<cases::Case> finish() {
        // Values that no node reads become outputs, and sometimes others as well.
        for (const Value& value : values_) {
            const bool is_input = value.name.starts_with('x');
            if (!is_input && (!value.is_read || random_.chance(1, 8))) {
                builder_.add_output(value.name);
            }
        }
        cases::Case subject;
        subject.descriptor = operators::graph_descriptor(std::make_shared<const operators::Graph>(builder_.graph()));
        if (operators::validate(*subject.descriptor, settings_.level)) {
            return std::nullopt;
        }
        subject.min_feature_level = *operators::minimum_feature_level(*subject.descriptor);
        for (const operators::TensorSlot& slot : subject.descriptor->inputs()) {
            const auto data = std::ranges::find(inputs_, slot.name, &std::pair<std::string, cases::Initialiser>::first);
            subject.inputs.emplace_back(data->second);
        }
        subject.expected.resize(subject.descriptor->outputs().size());
        subject.tolerances.resize(subject.expected.size());
        return subject;
    }

    GeneratorSettings settings_;
    std::vector<const OperatorSchema*> operators_;
    Random random_;
    operators::GraphBuilder builder_;
    /// A deque, so that references stay valid.
    std::deque<Value> values_;
    std::vector<std::pair<std::string, cases::Initialiser>> inputs_;
    std::uint32_t nodes_ = 0;
};

}  // namespace

std::optional<cases::Case> generate_graph(const GeneratorSettings& settings, std::uint64_t number) {
    for (std::uint64_t attempt = 0; attempt < most_graph_attempts; ++attempt) {
        auto subject = GraphMaker(settings, number + (attempt << 40)).make();
        if (subject) {
            subject->id = fmt::format("fuzz/GRAPH/{}-{}", settings.seed, number);
            return subject;
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::fuzz
