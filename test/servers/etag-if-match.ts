/** ETag and If-Match: a document is replaced only if it is still the version that the client read. */
import { type SqliteServer, transaction } from './support/database.ts';
import { answer, NOT_FOUND } from './support/http.ts';

export const server: SqliteServer = {
  on: 'sqlite',
  tables: `
    CREATE TABLE IF NOT EXISTS documents (id TEXT PRIMARY KEY, content TEXT, version INTEGER);
    CREATE TABLE IF NOT EXISTS revisions (document TEXT, content TEXT);`,
  effects: ['SELECT document AS operation FROM revisions'],

  handle(db) {
    const open = db.prepare("INSERT INTO documents VALUES (?, '{}', 1) ON CONFLICT DO NOTHING");
    const look = db.prepare('SELECT content, version FROM documents WHERE id = ?');
    const replace = db.prepare('UPDATE documents SET content = ?, version = version + 1 WHERE id = ? AND version = ?');
    const keep = db.prepare('INSERT INTO revisions VALUES (?, ?)');

    return async ({ method, path, headers, text, work, beforeCommit, afterCommit }) => {
      const [, id = ''] = /^\/documents\/(.+)$/.exec(path) ?? [];
      if (!id) return NOT_FOUND;
      open.run(id);
      const present = () => {
        const { content, version } = look.get(id) as { content: string; version: number };
        return answer(200, JSON.parse(content), { etag: `"${version}"` });
      };
      if (method === 'GET') return present();
      await work();
      const [, version = '0'] = /^"(\d+)"$/.exec(headers['if-match'] ?? '') ?? [];
      const replaced = transaction(db, () => {
        if (replace.run(text, id, Number(version)).changes === 0) return false;
        keep.run(id, text);
        beforeCommit();
        return true;
      });
      afterCommit();
      return replaced ? present() : answer(412, { title: 'Precondition failed' });
    };
  },
};
