export {
  type PostgresClient,
  type PostgresStore,
  type PostgresStoreOptions,
  type PostgresTable,
  postgresMigration,
  postgresStore,
} from '../stores/postgres/postgres.js';
