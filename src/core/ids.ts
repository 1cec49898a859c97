/** Names of operations, and kinds of text that must not be confused with one another. Types only: at run time each is a plain string. */

/** The caller's stable name for an operation: non-empty strings, numbers below 2^53 and bigints, compared as typed. */
export type OperationName = readonly (string | number | bigint)[];

declare const kind: unique symbol;
type Text<Kind extends string> = string & { readonly [kind]: Kind };

/** The name of an operation as text, or `~` and the fingerprint of an unnamed one. Made by `encodeName` and `labelOfContent`. */
export type Label = Text<'label'>;

/** The user to whom operations belong: what the option `namespace` gives. Made by `namespaceOf`. */
export type Namespace = Text<'namespace'>;

/** The digest that stands for the namespace in the store. Made by `digestOfNamespace`. */
export type NamespaceDigest = Text<'digest of a namespace'>;

/** The key of an operation in the tables of this realm. Made by `addressOf`. */
export type OperationKey = Text<'operation key'>;

/** The key of what this realm keeps for one idempotency key of an operation: its answer, its payloads. Made by `keyedOperationOf` and `keyOfAnswer`. */
export type KeyedOperation = Text<'operation key and idempotency key'>;

/** The id of an operation's record in the store. Made by `idsOf`, and for an unnamed operation by `idOfUnnamed`. */
export type RecordId = Text<'record id'>;

/** The key that goes to the server, checked against the dialect's pattern. Made by `keyOf`. */
export type IdempotencyKey = Text<'idempotency key'>;
