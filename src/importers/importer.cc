#include "importers/importer.h"

#include <algorithm>

namespace stepscope {

bool Folder::has_file(std::string_view name) const {
  return std::binary_search(files.begin(), files.end(), name);
}

bool Folder::has_folder(std::string_view name) const {
  return std::binary_search(folders.begin(), folders.end(), name);
}

bool Importer::probe_folder(const Folder&, std::vector<Candidate>&) const { return false; }

bool Importer::probe_file(const std::string&, std::string_view, std::vector<Candidate>&) const {
  return false;
}

const Importer* find_importer(std::string_view name) {
  for (const Importer* importer : importers()) {
    if (importer->name() == name) return importer;
  }
  return nullptr;
}

std::optional<RecordingAround> Importer::recording_around(const std::string&) const {
  return std::nullopt;
}

}  // namespace stepscope
