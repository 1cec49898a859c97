export { type PostgresClient, postgresMigration, postgresStore, type PostgresStore, type PostgresStoreOptions, type PostgresTable } from '../stores/postgres.js';
