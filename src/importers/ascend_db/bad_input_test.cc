// Databases that are locked, damaged, empty or hostile: one clear message, never a crash, and
// nothing on disk changes.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/file.h"
#include "importers/ascend_db/ascend_db_importer.h"
#include "importers/ascend_db/sqlite_file.h"
#include "tests/support/imported_store.h"

namespace stepscope::testing {
namespace {

constexpr const char* kSome = R"sql(
CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
CREATE TABLE TASK(startNs INTEGER,endNs INTEGER,deviceId INTEGER,streamId INTEGER,taskType INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000)
 INSERT INTO TASK SELECT i*10,i*10+5,0,1,0 FROM n;
INSERT INTO STRING_IDS VALUES (0,'EVENT');
)sql";

std::string make_database(const TemporaryFolder& folder, const std::string& sql) {
  const std::string path = folder.write("ascend_pytorch_profiler_0.db", "");
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
  return path;
}

// The four parts of a message: what, which file, why, what to do.
void expect_message(const std::string& error, const std::string& why) {
  EXPECT_NE(error.find("ascend_pytorch_profiler_0.db"), std::string::npos) << error;
  EXPECT_NE(error.find(why), std::string::npos) << error;
  EXPECT_NE(error.find("cannot"), std::string::npos) << error;
}

TEST(AscendDbBadInput, EmptyAndForeignFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.write("ascend_pytorch_profiler_0.db", "");
  expect_message(ImportedStore(AscendDbImporter(), path).error, "empty");
  folder.write("ascend_pytorch_profiler_0.db", "not a database, but long enough to have a header");
  expect_message(ImportedStore(AscendDbImporter(), path).error, "not an SQLite database");
  std::filesystem::remove(path);
  make_database(folder, "CREATE TABLE recipes(name TEXT);");
  expect_message(ImportedStore(AscendDbImporter(), path).error, "none of the tables");
  std::vector<Candidate> found;
  EXPECT_FALSE(AscendDbImporter().probe_file(path, std::string("SQLite format 3\0", 16), found));
  expect_message(
      ImportedStore(AscendDbImporter(), path + ".none/ascend_pytorch_profiler_0.db").error, "");
}

TEST(AscendDbBadInput, CutOff) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, kSome);
  const auto whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, whole / 2);
  const ImportedStore half(AscendDbImporter(), path);
  // Either what could be read with a loss in the report, or one clear message.
  if (half.store) {
    EXPECT_GE(half.quality("truncated_input"), 1);
  } else {
    expect_message(half.error, "malformed");
  }
  std::filesystem::resize_file(path, 600);
  expect_message(ImportedStore(AscendDbImporter(), path).error, "");
}

TEST(AscendDbBadInput, EveryPageDamagedOnce) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, kSome);
  const auto text = read_file(path, 1 << 26);
  ASSERT_TRUE(text.ok());
  for (size_t page = 0; page < text->size() / 4096; page += 3) {
    for (const char value : {'\0', '\xFF', '\x7F'}) {
      std::string damaged = *text;
      for (size_t i = 0; i < 200; ++i) damaged[page * 4096 + i + (page == 0 ? 16 : 0)] = value;
      folder.write("ascend_pytorch_profiler_0.db", damaged);
      const ImportedStore run(AscendDbImporter(), path);
      if (!run.store) expect_message(run.error, "");
    }
  }
}

TEST(AscendDbBadInput, LockedByAnotherProgram) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, kSome);
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    sqlite3* database = nullptr;
    bool held = sqlite3_open(path.c_str(), &database) == SQLITE_OK &&
                sqlite3_exec(database, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK;
    char byte = held ? 'y' : 'n';
    held = write(ready[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1;
    _exit(held ? 0 : 1);
  }
  char byte = 'n';
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  const ImportedStore locked(AscendDbImporter(), path);
  EXPECT_FALSE(locked.store);
  expect_message(locked.error, "locked it for writing");
  EXPECT_NE(locked.error.find("wait until"), std::string::npos) << locked.error;
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int descriptor : {ready[0], ready[1], done[0], done[1]}) close(descriptor);
  const ImportedStore free(AscendDbImporter(), path);
  EXPECT_TRUE(free.store) << free.error;
}

TEST(AscendDbBadInput, UnfinishedTransactions) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, kSome);
  folder.write("ascend_pytorch_profiler_0.db-wal", "changes");
  expect_message(ImportedStore(AscendDbImporter(), path).error, "-wal");
  std::filesystem::remove(path + "-wal");
  folder.write("ascend_pytorch_profiler_0.db-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 rest");
  expect_message(ImportedStore(AscendDbImporter(), path).error, "-journal");
  folder.write("ascend_pytorch_profiler_0.db-journal", std::string(512, '\0'));  // finished
  const ImportedStore run(AscendDbImporter(), path);
  EXPECT_TRUE(run.store) << run.error;
}

TEST(AscendDbBadInput, HostileSchema) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, R"sql(
CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
CREATE VIEW TASK AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n)
 SELECT i AS startNs, i AS endNs FROM n;
CREATE TABLE "od""d name"("a""b" TEXT, "select" INTEGER);
INSERT INTO "od""d name" VALUES ('x', 1);
CREATE TABLE CANN_API(startNs,endNs,type,globalTid,connectionId,name);
INSERT INTO CANN_API VALUES (x'00ff', 'abc', 1e300, -1, 9223372036854775807, zeroblob(10)),
 (9223372036854775807, -9223372036854775808, NULL, NULL, NULL, NULL),
 (5, 4, 77, 'x', '12', 3.5);
)sql");
  const ImportedStore run(AscendDbImporter(), path);
  ASSERT_TRUE(run.store) << run.error;
  EXPECT_EQ(run.rows(Table::kSlices), 1u);
  EXPECT_EQ(run.quality("unparsable_event"), 2);
  EXPECT_GE(run.quality("bad_number"), 1);
  EXPECT_EQ(run.quality("negative_duration"), 1);
  EXPECT_EQ(run.source_rows("od_d_name"), 1u);
}

TEST(AscendDbBadInput, OpensWithoutTouchingTheFolder) {
  const TemporaryFolder folder;
  const std::string path = make_database(folder, kSome);
  const auto before = std::filesystem::last_write_time(folder.path());
  std::filesystem::permissions(
      folder.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  {
    auto file = SqliteFile::open(path, nullptr);
    ASSERT_TRUE(file.ok());
    QualityReport quality;
    TableScan row(*file, "TASK", {"startNs", "no_such_column"}, quality);
    ASSERT_TRUE(row.next());
    EXPECT_EQ(row.integer(0), 10);
    EXPECT_TRUE(row.is_null(1));
  }
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_EQ(std::filesystem::last_write_time(folder.path()), before);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path()))
    ++files;
  EXPECT_EQ(files, 1u);
}

}  // namespace
}  // namespace stepscope::testing
