import { type DefinedDialect, defineDialect } from './define.js';
import { inBody, inQuery } from './key-location.js';
import { oneOf, onlyKnown } from './misspelled.js';

const FIVE_MINUTES_MS = 300_000;
/** S3 and CodeCommit spell it `Idempotency…`. */
const OTHER_PARAMETERS = /Idempoten(t|cy)ParameterMismatch/;

/**
 * AWS services with a client token, in a JSON or form body or in the query: `ClientToken` (EC2), `clientToken`,
 * `ClientRequestToken`. Every attempt must be signed again: do it in the `headers` hook, which gets the final bytes. A token counts
 * for one region, which is one host; nothing says that a token of one path is known at another.
 *
 * Not known in general: how long a token is remembered, which differs by service. Five minutes are assumed here, the shortest time that
 * is documented (AWS Private CA), because with a shorter window `reconcile` is only asked earlier; EC2's RunInstances, for example, says
 * at least 24 hours: give `windowMs`. How work in progress is answered differs too; only the answer of DynamoDB's transactions is
 * recognised.
 *
 * @see https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * @see https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/acmpca/aws.sdk.kotlin.services.acmpca.model/-create-certificate-authority-request/idempotency-token.html
 * @see https://docs.aws.amazon.com/botocore/latest/reference/services/s3/client/exceptions/IdempotencyParameterMismatch.html
 */
export const aws = ({
  token = 'ClientToken',
  goes = 'body',
  windowMs = FIVE_MINUTES_MS,
  ...others
}: {
  token?: string | undefined;
  goes?: 'body' | 'query' | undefined;
  windowMs?: number | undefined;
} = {}): DefinedDialect => {
  onlyKnown('dialect aws', others);
  return defineDialect({
    name: 'aws',
    perAccount: false,
    place: oneOf('dialect aws: goes', goes, { body: inBody, query: inQuery })(token),
    pattern: /^[\x21-\x7e]{1,64}$/,
    windowMs,
    scope: ['region', 'endpoint'],
    marker: false,
    replays: true,
    answersMismatch: true,
    answers: [
      { status: 400, text: /TransactionInProgressException/, means: 'in-progress' },
      { status: [400, 409], text: OTHER_PARAMETERS, means: 'mismatch' },
      { status: [400, 409], headers: { 'x-amzn-errortype': OTHER_PARAMETERS }, means: 'mismatch' },
    ],
  });
};
