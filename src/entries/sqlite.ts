export {
  type SqliteDatabase,
  type SqliteDatabaseOptions,
  type SqlitePathOptions,
  type SqliteStatement,
  type SqliteStoreOptions,
  sqliteStore,
} from '../stores/sqlite/sqlite.js';
