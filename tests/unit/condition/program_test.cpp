// Compiled conditions: typing, and the same answers as the oracle's.
#include "condition/program.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <variant>

#include "condition/evaluate.hpp"
#include "condition/normal.hpp"
#include "condition/text.hpp"
#include "deltamatch/error.hpp"
#include "support/conditions.hpp"
#include "unit/condition/random_condition.hpp"

namespace deltamatch::condition {
namespace {

using testing::HasSubstr;

/// The values of one match, by element and attribute.
struct Row {
  std::map<std::pair<Element, std::string>, oracle::Stored> values;
  std::map<Element, std::variant<std::int64_t, std::string>> ids;

  [[nodiscard]] oracle::Stored get(const Element& element, const std::string& name) const {
    const auto found = values.find({element, name});
    return found == values.end() ? oracle::Stored() : found->second;
  }
};

const std::vector<Attribute>& attributes_of(const Schema& schema, const Element& element) {
  return element.kind == Element::Kind::edge ? schema.edges : schema.vertices;
}

/// A row as a program reads it. Symbols are numbered by their first letter.
struct RowSource {
  const Row& row;
  const Program& program;
  const Schema& schema;

  [[nodiscard]] std::optional<std::int64_t> raw(std::uint32_t element, std::uint32_t slot) const {
    const Element& at = program.elements[element];
    return number(row.get(at, attributes_of(schema, at)[slot].name));
  }
  [[nodiscard]] std::optional<Timestamp> time(std::uint32_t element) const {
    return number(row.get(program.elements[element], "time"));
  }
  [[nodiscard]] Id id(std::uint32_t element) const {
    const auto& value = row.ids.at(program.elements[element]);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return std::get<std::int64_t>(value);
  }
  [[nodiscard]] std::int64_t symbol(std::uint32_t slot) const { return program.texts[slot][0]; }

  static std::optional<std::int64_t> number(const oracle::Stored& stored) {
    if (const auto* value = std::get_if<std::int64_t>(&stored)) return *value;
    if (const auto* real = std::get_if<double>(&stored)) return std::bit_cast<std::int64_t>(*real);
    if (const auto* truth = std::get_if<bool>(&stored)) return *truth ? 1 : 0;
    if (const auto* text = std::get_if<std::string>(&stored)) return (*text)[0];
    return std::nullopt;
  }
};

Row random_row(RandomCondition& random, const Schema& schema) {
  Row row;
  const auto fill = [&](Element element) {
    for (const Attribute& attribute : attributes_of(schema, element)) {
      if (random.below(5) == 0) continue;  // NULL
      oracle::Stored& value = row.values[{element, attribute.name}];
      switch (attribute.type.kind) {
        case AttributeType::Kind::real:
          value = (random.below(2001) - 1000) / 64.0;
          break;
        case AttributeType::Kind::boolean:
          value = random.below(2) == 0;
          break;
        case AttributeType::Kind::symbol:
          value = random.text();
          break;
        default:
          value = std::int64_t{random.below(41) - 20};
          break;
      }
    }
  };
  for (std::uint32_t i = 0; i < 2; ++i) {
    fill({Element::Kind::edge, i});
    fill({Element::Kind::vertex, i});
    if (random.below(6) != 0) row.values[{Element{Element::Kind::edge, i}, "time"}] = std::int64_t{random.below(6)};
    auto& id = row.ids[{Element::Kind::vertex, i}];
    if (random.below(2) == 0) {
      id = std::int64_t{random.below(4)};
    } else {
      id = random.text();
    }
  }
  return row;
}

oracle::Values values_of(const Row& row, const Schema& schema) {
  return {[&](const Element& element, const std::string& name) { return row.get(element, name); },
          [&](const Element& element, const std::string& name) {
            const auto& attributes = attributes_of(schema, element);
            return std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.name == name; })->type;
          },
          [&](const Element& element) { return row.ids.at(element); }};
}

std::vector<std::uint32_t> own_numbers(const Query& query) {
  std::vector<std::uint32_t> own(query.edges.size());
  std::iota(own.begin(), own.end(), 0U);
  return own;
}

/// What the compiled condition says: all of its conjuncts.
Truth run(const Expression& condition, const Schema& schema, const Query& query, const Row& row) {
  Truth result = Truth::yes;
  for (const Expression& conjunct : conjuncts(normal_form(condition, own_numbers(query)))) {
    const Program program = compile(conjunct, schema, query, "q");
    result = detail::all_of(result, evaluate(program, RowSource{row, program, schema}));
  }
  return result;
}

RC_GTEST_PROP(ConditionProgram, SaysWhatTheOracleSays, (std::uint64_t seed)) {
  RandomCondition random(seed);
  const Schema schema = test_schema();
  Query query = test_query();
  query.where = random.truth(4);
  try {
    check(query, schema, "q");
  } catch (const Error& error) {
    RC_ASSERT(std::string(error.what()).find("could exceed 128 bits") != std::string::npos);
    RC_DISCARD("a product of attributes");
  }
  for (int i = 0; i < 20; ++i) {
    const Row row = random_row(random, schema);
    const auto expected = oracle::holds(*query.where, values_of(row, schema));
    const Truth truth = !expected ? Truth::unknown : *expected ? Truth::yes : Truth::no;
    RC_LOG() << to_text(*query.where, query);
    RC_ASSERT(run(*query.where, schema, query, row) == truth);
  }
}

RC_GTEST_PROP(ConditionText, IsReadBack, (std::uint64_t seed)) {
  RandomCondition random(seed);
  Query query = test_query();
  query.where = random.truth(4);
  const Query read = parse_pattern(to_pattern(query), "q");
  const auto own = own_numbers(query);
  RC_LOG() << to_pattern(query);
  // The text may group conjunctions otherwise, so normal forms are compared. Writing what was read changes nothing.
  RC_ASSERT(normal_form(*read.where, own) == normal_form(*query.where, own));
  RC_ASSERT(parse_pattern(to_pattern(read), "q") == read);
}

RC_GTEST_PROP(NormalForm, IsItsOwnNormalForm, (std::uint64_t seed)) {
  const Query query = test_query();
  const Expression form = normal_form(RandomCondition(seed).truth(4), own_numbers(query));
  RC_ASSERT(normal_form(form, own_numbers(query)) == form);
}

Expression form_of(std::string_view where) {
  const Query query = parse_pattern("(a)-[t:T]->(b)-[u:T]->(a) WHERE " + std::string(where), "q");
  return normal_form(*query.where, own_numbers(query));
}

TEST(NormalForm, UnitesWhatSaysTheSame) {
  EXPECT_EQ(form_of("t.x > 5"), form_of("5 < t.x"));
  EXPECT_EQ(form_of("t.x >= 5.0 AND u.x = 1"), form_of("1 = u.x AND 5 <= t.x"));
  EXPECT_EQ(form_of("t.x IN [1, 2, 2]"), form_of("t.x = 2 OR t.x = 1"));
  EXPECT_EQ(form_of("NOT (t.x = 1 OR NOT u.x < 2)"), form_of("t.x <> 1 AND u.x < 2"));
  EXPECT_EQ(form_of("t.x + u.x < 1"), form_of("u.x + t.x < 1"));
  EXPECT_EQ(form_of("t.x = 1 AND TRUE"), form_of("t.x = 1"));
  EXPECT_EQ(form_of("t.x = 1 AND FALSE"), form_of("FALSE"));
  EXPECT_EQ(form_of("24h < t.x"), form_of("duration('P1D') < t.x"));
}

TEST(NormalForm, KeepsWhatDiffers) {
  EXPECT_NE(form_of("t.x < u.x"), form_of("u.x < t.x"));
  EXPECT_NE(form_of("t.x + u.x + a.x < 1"), form_of("t.x + (u.x + a.x) < 1"));  // floats round differently
  EXPECT_NE(form_of("NOT t.x < 1"), form_of("t.x >= 1"));                       // NaN cannot occur, but infinity times 0 can
  EXPECT_NE(form_of("t.x = 1"), form_of("t.x = '1'"));
}

std::string fault(std::string_view where, Schema schema = test_schema()) {
  const Query query = parse_pattern("(a)-[t:T]->(b)-[u:T]->(a) WHERE " + std::string(where), "q");
  try {
    check(query, schema, "here");
  } catch (const Error& error) {
    return error.what();
  }
  return "fine";
}

TEST(ConditionTypes, AreChecked) {
  EXPECT_EQ(fault("t.d > 1000 AND t.d >= u.d AND u.d >= 0.8 * t.d"), "fine");
  EXPECT_EQ(fault("t.time - u.time < 24h AND t.w < t.time + 5m"), "fine");
  EXPECT_EQ(fault("t.s = 'web' AND NOT t.b AND id(a) = 5 AND id(b) <> 'x'"), "fine");
  EXPECT_EQ(fault("t.i * 3h > t.time - u.time"), "fine");
}

TEST(ConditionTypes, FaultsNameThePartAndTheRemedy) {
  EXPECT_THAT(fault("t.amout > 5"),
              HasSubstr("edges have no attribute 'amout'; declare it with the graph's attributes; there are i, d,"));
  EXPECT_THAT(fault("a.time > 5"), HasSubstr("vertices have no attribute 'time'"));
  EXPECT_THAT(fault("t.s < 'web'"), HasSubstr("'t.s < 'web'' orders texts; compare texts with =, <> or IN, or declare"));
  EXPECT_THAT(fault("t.s = 5"), HasSubstr("put the value in quotes, or declare numbers as decimal(2) or int"));
  EXPECT_THAT(fault("t.s > t.d"), HasSubstr("'t.s > t.d' compares a number with a text; compare values of one type"));
  EXPECT_THAT(fault("t.i < 5 AND t.b >= t.d"), HasSubstr("'t.b >= t.d' compares a number with a truth value"));
  EXPECT_THAT(fault("t.i = '5'"), HasSubstr("give a number, without quotes"));
  EXPECT_THAT(fault("t.time < 24h"), HasSubstr("compare t2.time - t1.time with a duration"));
  EXPECT_THAT(fault("t.time - u.time < 24"), HasSubstr("give the number a unit"));
  EXPECT_THAT(fault("t.time < '2026-01-31'"), HasSubstr("datetime('2026-01-31T10:00:00Z')"));
  EXPECT_THAT(fault("t.i"), HasSubstr("'t.i' is a number, not a condition"));
  EXPECT_THAT(fault("t.i AND t.b"), HasSubstr("compare it with something"));
  EXPECT_THAT(fault("t.time + u.time > u.time"), HasSubstr("calculates with a time and a time"));
  EXPECT_THAT(fault("t.i * t.i * t.i > 5"), HasSubstr("could exceed 128 bits"));
  EXPECT_THAT(fault("t.d * t.d * 0.8 > 5"), HasSubstr("could exceed 128 bits"));
  EXPECT_THAT(fault("id(a) = t.i"), HasSubstr("no whole constant"));
  EXPECT_THAT(fault("0.5 * (t.time - u.time) < 3h"), HasSubstr("by a fraction"));
}

TEST(ConditionTypes, SimpleGraphsHaveNoConditionsOnEdges) {
  Schema schema = test_schema();
  schema.model = EdgeModel::simple;
  EXPECT_THAT(fault("t.time < u.time", schema),
              HasSubstr("the graph's edges are 'simple'; choose --edges keyed or --edges events"));
  EXPECT_THAT(fault("t.i < 5", schema), HasSubstr("an attribute of an edge"));
  EXPECT_EQ(fault("a.i < 5 AND id(a) < id(b)", schema), "fine");
}

}  // namespace
}  // namespace deltamatch::condition
