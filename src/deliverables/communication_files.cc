// communication.json and communication_matrix.json, as CANN's analysis writes them and viewers of
// clusters read them: by step, point to point or collective, then operator@group. Times in ms,
// sizes in MB (10^6 bytes), bandwidth in GB/s (MB/ms).
#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include <nlohmann/json.hpp>

#include "deliverables/profiler_output.h"
#include "json/json_tree.h"

namespace stepscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerMs = 1e6;
constexpr double kBytesPerMb = 1e6;
constexpr std::string_view kTransports[] = {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"};

double round_to(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}
double ms(int64_t ns) { return static_cast<double>(ns) / kNsPerMs; }
double mb(int64_t bytes) { return static_cast<double>(bytes) / kBytesPerMb; }
double gb_per_s(int64_t bytes, int64_t ns) { return ns > 0 ? round_to(mb(bytes) / ms(ns), 4) : 0; }

struct Packets {
  int64_t bytes = 0;
  int64_t time_ns = 0;
  int64_t packets = 0;
  int64_t large = 0;
  std::map<int64_t, std::pair<int64_t, int64_t>> sizes;  // packets and time by packet size

  void add(const CommunicationTransferRow& transfer, bool is_large) {
    bytes += transfer.packet_bytes * transfer.packets;
    time_ns += transfer.time_ns;
    packets += transfer.packets;
    if (is_large) large += transfer.packets;
    auto& [count, total_ns] = sizes[transfer.packet_bytes];
    count += transfer.packets;
    total_ns += transfer.time_ns;
  }
};

// Where a transfer counts. Everything over SDMA also counts as SDMA; inside the device as nothing.
std::string_view transport_of(const CommunicationTransferRow& transfer) {
  if (transfer.link == "ON_CHIP" || transfer.transport == "LOCAL" ||
      transfer.src_rank == transfer.dst_rank) {
    return "LOCAL";
  }
  if (transfer.transport == "RDMA") return "RDMA";
  if (transfer.link.starts_with("HCCS")) return "HCCS";
  if (transfer.link == "PCIE" || transfer.link == "SIO") return transfer.link;
  return "SDMA";
}

using ByTransport = std::map<std::string_view, Packets>;

void add_transfer(ByTransport& all, const CommunicationTransferRow& transfer) {
  const std::string_view transport = transport_of(transfer);
  if (transport == "LOCAL") return;
  const int64_t large = transport == "RDMA" ? 500'000 : 32'000'000;
  all[transport].add(transfer, transfer.packet_bytes > large);
  if (transport == "RDMA" || transport == "SDMA") return;
  // The sum has no packets of its own in the reference's files.
  Packets& sum = all["SDMA"];
  sum.bytes += transfer.packet_bytes * transfer.packets;
  sum.time_ns += transfer.time_ns;
}

Json bandwidth_info(const ByTransport& all, bool total) {
  Json info = Json::object();
  for (const std::string_view transport : kTransports) {
    const auto found = all.find(transport);
    const Packets packets = found == all.end() ? Packets{} : found->second;
    Json& entry = info[std::string(transport)];
    entry["Transit Size(MB)"] = mb(packets.bytes);
    entry["Transit Time(ms)"] = ms(packets.time_ns);
    if (!total) {
      entry["Bandwidth(GB/s)"] = gb_per_s(packets.bytes, packets.time_ns);
      entry["Large Packet Ratio"] =
          packets.packets == 0
              ? 0
              : round_to(static_cast<double>(packets.large) / static_cast<double>(packets.packets),
                         4);
    }
    Json sizes = Json::object();
    for (const auto& [bytes, sum] : packets.sizes) {
      std::string size;
      append_json_number(size, mb(bytes));
      sizes[size] = {sum.first, ms(sum.second)};
    }
    entry["Size Distribution"] = std::move(sizes);
  }
  return info;
}

struct Times {
  int64_t elapse_ns = 0;
  int64_t transit_ns = 0;
  int64_t wait_ns = 0;
  int64_t synchronization_ns = 0;
  int64_t idle_ns = 0;
};

Json time_info(const Times& times, int64_t start_ns) {
  Json info;
  if (start_ns != kNull) info["Start Timestamp(us)"] = static_cast<double>(start_ns) / 1e3;
  info["Elapse Time(ms)"] = ms(times.elapse_ns);
  info["Transit Time(ms)"] = ms(times.transit_ns);
  info["Wait Time(ms)"] = ms(times.wait_ns);
  info["Synchronization Time(ms)"] = ms(times.synchronization_ns);
  info["Idle Time(ms)"] = ms(times.idle_ns);
  info["Wait Time Ratio"] = round_to(share_of(times.wait_ns, times.transit_ns), 4);
  info["Synchronization Time Ratio"] =
      round_to(share_of(times.synchronization_ns, times.transit_ns), 4);
  return info;
}

// An operator of the rank with its transfers.
struct Operation {
  const CommunicationOperatorRow* row = nullptr;
  std::vector<const CommunicationTransferRow*> transfers;
  int64_t step = kNull;  // that it is filed under
};

// MindSpore files an operator under the first step, by its marks, that the operator starts in, and
// leaves out what starts in none. A recording of one step or of none has one entry for all.
class MindSporeSteps {
 public:
  explicit MindSporeSteps(const OutputContext& context) {
    if (!context.form.numbers_steps()) return;
    for (const StepRow& step : context.run.steps(context.rank.position)) {
      if (step.source == "marked") steps_.push_back(step);
    }
  }
  // kNull: in none of them.
  int64_t step_at(int64_t ns) const {
    if (steps_.empty()) return 0;
    if (steps_.size() == 1) return steps_[0].step;
    for (const StepRow& step : steps_) {
      if (step.start_ns <= ns && ns <= step.end_ns()) return step.step;
    }
    return kNull;
  }

 private:
  std::vector<StepRow> steps_;  // by start
};

std::vector<Operation> operations_of(OutputContext& context) {
  const Communication& all = context.run.communication();
  const size_t position = context.rank.position;
  std::vector<Operation> operations;
  for (size_t i = all.first_operator[position]; i < all.first_operator[position + 1]; ++i)
    operations.push_back({&all.operators[i], {}, all.operators[i].step});
  bool any = false;
  for (const CommunicationTransferRow& transfer : all.ranks[position].transfers) {
    operations[transfer.operation].transfers.push_back(&transfer);
    any = true;
  }
  if (context.form.is_mindspore) {
    const MindSporeSteps steps(context);
    for (Operation& one : operations) one.step = steps.step_at(one.row->start_ns);
    std::erase_if(operations, [](const Operation& one) { return one.step == kNull; });
  }
  std::erase_if(operations, [&](const Operation& one) {
    return !context.chosen_step(one.step) || (one.transfers.empty() && one.row->wait_ns == kNull);
  });
  if (!any) operations.clear();
  return operations;
}

std::string step_key(int64_t step) {
  return step == kNull ? "step" : "step" + std::to_string(step);
}
const char* kind_key(const OutputContext& context, const Operation& one) {
  const std::string_view name = one.row->name;
  // By these words as they are spelled: hcom_send is filed as a collective there.
  const bool is_p2p = context.form.is_mindspore ? name.find("Send") != std::string_view::npos ||
                                                      name.find("Receive") != std::string_view::npos
                                                : is_point_to_point(one.row->collective);
  return is_p2p ? "p2p" : "collective";
}
std::string group_suffix(const Operation& one) {
  return one.row->group.empty() ? "" : "@" + std::string(one.row->group);
}

Json& step_entry(Json& tree, int64_t step) {
  Json& entry = tree[step_key(step)];
  if (entry.is_null()) {
    entry["p2p"] = Json::object();
    entry["collective"] = Json::object();
  }
  return entry;
}

Result<bool> write_tree(const Json& tree, const OutputContext& context, const Sink& sink) {
  if (tree.empty()) return false;
  const int indent = context.options.pretty ? 4 : -1;
  if (auto status = sink(write_json(tree, indent)); !status) return std::move(status.error());
  return true;
}

using Words = std::span<const std::string_view>;

constexpr std::string_view kTypes[] = {
    "send",          "reduce",  "invalid",  "broadcast", "allreduce",  "receive",      "allgather",
    "reducescatter", "scatter", "alltoall", "alltoallv", "alltoallvc", "batchsendrecv"};
// MindSpore's, of which operators between two ranks have their own.
constexpr std::string_view kMindSporePeerTypes[] = {"receive", "send"};
constexpr std::string_view kMindSporeTypes[] = {
    "invalid",       "broadcast", "allreduce", "reduce",    "allgather",
    "reducescatter", "scatter",   "alltoall",  "alltoallv", "alltoallvc"};

// The word by which viewers know the operator's type: the leftmost of these in its name, and at one
// place the first. So a reduceScatter is filed under "reduce", as in the reference's files.
std::string type_word(std::string_view name, Words words, bool is_mindspore) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  size_t leftmost = std::string::npos;
  std::string_view best;
  for (const std::string_view word : words) {
    const size_t at = lower.find(word);
    if (at < leftmost) {
      leftmost = at;
      best = word;
    }
  }
  if (!best.empty()) return std::string(best);
  if (!is_mindspore) return lower.substr(0, lower.find("__"));
  // "Default/network/Custom-op12" -> "custom"
  lower.erase(0, lower.rfind('/') + 1);
  return lower.substr(0, lower.find("-op"));
}

std::string type_word(const OutputContext& context, const Operation& one) {
  const bool is_mindspore = context.form.is_mindspore;
  Words words = kTypes;
  if (is_mindspore) {
    words = std::string_view(kind_key(context, one)) == "p2p" ? Words(kMindSporePeerTypes)
                                                              : Words(kMindSporeTypes);
  }
  return type_word(one.row->name, words, is_mindspore);
}

struct Link {
  std::string_view transport;
  int64_t bytes = 0;
  int64_t time_ns = 0;
  const CommunicationOperatorRow* operation = nullptr;
  double bandwidth() const { return time_ns > 0 ? mb(bytes) / ms(time_ns) : 0; }
};

// `name_key`: of the operator's name; nullptr for a sum over several.
Json link_entry(const Link& link, const char* name_key) {
  Json entry;
  entry["Transport Type"] = std::string(link.transport);
  entry["Transit Size(MB)"] = mb(link.bytes);
  entry["Transit Time(ms)"] = ms(link.time_ns);
  entry["Bandwidth(GB/s)"] = round_to(link.bandwidth(), 4);
  if (name_key != nullptr) entry[name_key] = std::string(link.operation->name);
  return entry;
}

}  // namespace

Result<bool> write_communication(OutputContext& context, const Sink& sink) {
  Json tree = Json::object();
  struct Total {
    Times times;
    ByTransport transports;
  };
  std::map<std::pair<std::string, std::string>, Total> totals;
  for (const Operation& one : operations_of(context)) {
    const CommunicationOperatorRow& row = *one.row;
    const auto known = [](int64_t ns) { return ns == kNull ? 0 : ns; };
    const Times times{row.elapse_ns, known(row.transit_ns), known(row.wait_ns),
                      known(row.synchronization_ns), known(row.idle_ns)};
    ByTransport transports;
    Total& total = totals[{step_key(one.step), kind_key(context, one)}];
    for (const CommunicationTransferRow* transfer : one.transfers) {
      add_transfer(transports, *transfer);
      add_transfer(total.transports, *transfer);
    }
    total.times.elapse_ns += times.elapse_ns;
    total.times.transit_ns += times.transit_ns;
    total.times.wait_ns += times.wait_ns;
    total.times.synchronization_ns += times.synchronization_ns;
    total.times.idle_ns += times.idle_ns;
    Json& entry = step_entry(
        tree, one.step)[kind_key(context, one)][std::string(row.name) + group_suffix(one)];
    entry["Communication Time Info"] = time_info(times, row.start_ns);
    entry["Communication Bandwidth Info"] = bandwidth_info(transports, false);
  }
  for (const auto& [key, total] : totals) {
    Json& entry = tree[key.first][key.second]["Total Op Info"];
    entry["Communication Time Info"] = time_info(total.times, kNull);
    entry["Communication Bandwidth Info"] = bandwidth_info(total.transports, true);
  }
  return write_tree(tree, context, sink);
}

Result<bool> write_communication_matrix(OutputContext& context, const Sink& sink) {
  // By step, kind and type@group; then by link its operators.
  std::map<int64_t,
           std::map<std::string, std::map<std::string, std::map<std::string, std::vector<Link>>>>>
      all;
  for (const Operation& one : operations_of(context)) {
    std::map<std::string, Link> links;
    for (const CommunicationTransferRow* transfer : one.transfers) {
      Link& link =
          links[std::to_string(transfer->src_rank) + "-" + std::to_string(transfer->dst_rank)];
      link.transport = transport_of(*transfer);
      link.bytes += transfer->packet_bytes * transfer->packets;
      link.time_ns += transfer->time_ns;
      link.operation = one.row;
    }
    for (const auto& [name, link] : links)
      all[one.step][kind_key(context, one)][type_word(context, one) + "\n" + group_suffix(one)]
         [name]
             .push_back(link);
  }
  const bool is_mindspore = context.form.is_mindspore;
  const char* const name_key = is_mindspore ? "op_name" : "Op Name";
  Json tree = Json::object();
  for (auto& [step, kinds] : all) {
    Json& entry = step_entry(tree, step);
    for (auto& [kind, types] : kinds) {
      for (auto& [type, links] : types) {
        const std::string word = type.substr(0, type.find('\n'));
        const std::string group = type.substr(type.find('\n') + 1);
        const auto key = [&](const char* place) { return word + "-" + place + group; };
        for (auto& [link, operations] : links) {
          std::stable_sort(operations.begin(), operations.end(), [](const Link& a, const Link& b) {
            return a.bandwidth() > b.bandwidth();
          });
          const size_t count = operations.size();
          const auto place = [&](const char* name, size_t index) {
            entry[kind][key(name)][link] = link_entry(operations[index], name_key);
          };
          place("top1", 0);
          place("middle", count / 2);
          place("bottom1", count - 1);
          // MindSpore fills the places of short lists up.
          if (count >= 2 || is_mindspore) place("bottom2", count - std::min<size_t>(count, 2));
          if (count >= 3 || is_mindspore) place("bottom3", count - std::min<size_t>(count, 3));
          Link total;
          total.transport = operations[0].transport;
          for (const Link& one : operations) {
            total.bytes += one.bytes;
            total.time_ns += one.time_ns;
          }
          entry[kind][key("total")][link] = link_entry(total, nullptr);
        }
      }
    }
  }
  return write_tree(tree, context, sink);
}

}  // namespace stepscope
