/** What an operation is called, and texts that must not be taken for one another. Types only: each text is a plain string at run time. */

/** The caller's stable name for an operation: non-empty strings, numbers below 2^53 and bigints, compared as typed. */
export type OperationName = readonly (string | number | bigint)[];

declare const kind: unique symbol;
type Text<Kind extends string> = string & { readonly [kind]: Kind };

/** The name of an operation as text, or `~` and the fingerprint of an unnamed one. Made by `encodeName` and `labelOfContent`. */
export type Label = Text<'label'>;

/** Whose operations they are: what the option `namespace` gives. Made by `namespaceOf`. */
export type Namespace = Text<'namespace'>;

/** The namespace as the store has it: a digest. Made by `digestOfNamespace`. */
export type NamespaceDigest = Text<'digest of a namespace'>;

/** Where an operation is in the tables of this realm. Made by `operationKeyOf`. */
export type OperationKey = Text<'operation key'>;

/** What is kept in this realm of one key of an operation: its answer, its payloads. Made by `keyedOperationOf`. */
export type KeyedOperation = Text<'operation key and idempotency key'>;

/** Where an operation is in the store. Made by `idsOf`, and for an unnamed one by `idOfUnnamed`. */
export type RecordId = Text<'record id'>;

/** What goes to the server, once it fits the dialect's pattern. Made by `keyFor`. */
export type IdempotencyKey = Text<'idempotency key'>;
