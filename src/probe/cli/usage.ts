/** The help text, and the error for wrong arguments. */

/** An error in the arguments, or in how effects are counted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const HELP = `oncefetch probe <url> --sandbox [options]

Asks a server of a TEST SYSTEM what it does with idempotency keys. It sends real requests, and they take effect.

The request
  --method <method>          default: POST
  --body <text>              {{operation}} in it stands for a new id for each operation
  --header 'Name: value'     may be repeated
  --request <file>           a HAR entry, or a curl command, in place of the three above
  --changed-body <text>      the same operation with another payload; default: one number or text of the JSON body changed
  --refused-body <text>      a payload that the application refuses
  --elsewhere <url>          another endpoint of the same origin that takes the same request
  --as 'Name: value'         the credential of a second account; may be repeated

The key
  --key-header <name>        default: Idempotency-Key. Or write {{key}} where it goes: in --body, a --header, the URL

Counting effects
  --count <url>              answers with JSON
  --count-path <path>        where the number, or a list, stands in it: data.total
  --count-header 'Name: v'   may be repeated
  --count-command <command>  prints the number

Waiting
  --patience <time>          how long work in progress is asked for; default: 10s
  --settle <time>            how long after an answer an effect may appear; default: 200ms
  --after <time>             sends a key again after that time: 30s, 25h. More than a minute is resumed later
  --state <file>             where that is kept; default: oncefetch-probe.json
  --resume <file>            plays what a former run left for later; with the same other options

  --sandbox                  says that this is a test system. Required
  --json                     prints a document in place of the table

Exit status: 0 one key never had two effects, and nothing false was said; 1 otherwise; 2 arguments that can't be used, and
nothing was sent; 3 nobody counted, and nothing else was found.
`;
