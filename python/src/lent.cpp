#include "lent.hpp"

#include <utility>

namespace nb = nanobind;

namespace deltamatch::python {
namespace {

/// What an Arrow array owns. A schema owns nothing: its texts are constants.
struct Lent {
  std::shared_ptr<void> keeps;
  Buffers buffers;
};

}  // namespace

std::shared_ptr<void> keep(nb::object object) {
  PyObject* const held = object.release().ptr();
  return {held, [](void* pointer) {
            if (!nb::is_alive()) return;
            const nb::gil_scoped_acquire lock;
            Py_DECREF(static_cast<PyObject*>(pointer));
          }};
}

ingest::TableColumn lend(const std::string& name, const char* format, std::int64_t length, const Buffers& buffers,
                         std::shared_ptr<void> keeps) {
  ingest::TableColumn column{.schema = {}, .array = {}, .name = name, .type = {}, .cells = {}, .keeps = {}};
  *column.schema.get() = {.format = format,
                          .name = "",
                          .metadata = nullptr,
                          .flags = ARROW_FLAG_NULLABLE,
                          .n_children = 0,
                          .children = nullptr,
                          .dictionary = nullptr,
                          .release = [](ArrowSchema* schema) { schema->release = nullptr; },
                          .private_data = nullptr};
  auto lent = std::make_unique<Lent>(Lent{std::move(keeps), buffers});
  constexpr std::int64_t not_counted = -1;
  *column.array.get() = {.length = length,
                         .null_count = buffers[0] == nullptr ? 0 : not_counted,
                         .offset = 0,
                         .n_buffers = buffers[2] == nullptr ? 2 : 3,
                         .n_children = 0,
                         .buffers = lent->buffers.data(),
                         .children = nullptr,
                         .dictionary = nullptr,
                         .release =
                             [](ArrowArray* array) {
                               delete static_cast<Lent*>(array->private_data);
                               array->release = nullptr;
                             },
                         .private_data = lent.release()};
  return column;
}

}  // namespace deltamatch::python
