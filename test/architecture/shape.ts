/** How long files and functions may be, and where defaults live. */
import ts from 'typescript';
import { type Finding, finding, walk } from './sources.js';

const FILE_LINES_MAX = 250;
const FUNCTION_LINES_MAX = 70;

export function checkLength(files: readonly ts.SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const found: Finding[] = [];
    const lines = file.text.replace(/\n$/, '').split('\n').length;
    if (lines > FILE_LINES_MAX) found.push({ at: file.fileName, says: `${lines} lines, at most ${FILE_LINES_MAX}` });
    walk(file, (node) => {
      if (!ts.isFunctionLike(node) || !('body' in node)) return;
      const [start, end] = [node.getStart(file), node.getEnd()].map((position) => file.getLineAndCharacterOfPosition(position).line) as [number, number];
      if (end - start + 1 > FUNCTION_LINES_MAX) found.push(finding(node, `a function of ${end - start + 1} lines, at most ${FUNCTION_LINES_MAX}`));
    });
    return found;
  });
}

/**
 * A default is what is used if nothing was given: the value of a parameter or of a destructured member, or the right side of `??` and `??=`. A number there,
 * other than 0 and 1, is a choice, and choices belong in `options.ts`. Strings are not checked: most of them are the platform's own defaults, such as 'GET'.
 */
export function checkDefaults(files: readonly ts.SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const found: Finding[] = [];
    walk(file, (node) => {
      const value = defaultIn(node);
      if (value !== undefined && isChoice(value)) found.push(finding(value, `the default ${value.getText(file)} belongs in options.ts`));
    });
    return found;
  });
}

const DEFAULTING: ReadonlySet<ts.SyntaxKind> = new Set([ts.SyntaxKind.QuestionQuestionToken, ts.SyntaxKind.QuestionQuestionEqualsToken]);

function defaultIn(node: ts.Node): ts.Expression | undefined {
  if (ts.isParameter(node) || ts.isBindingElement(node)) return node.initializer;
  return ts.isBinaryExpression(node) && DEFAULTING.has(node.operatorToken.kind) ? node.right : undefined;
}

function isChoice(value: ts.Expression): boolean {
  if (ts.isNumericLiteral(value)) return !['0', '1'].includes(value.text);
  if (ts.isBinaryExpression(value)) return isChoice(value.left) || isChoice(value.right);
  return ts.isParenthesizedExpression(value) && isChoice(value.expression);
}
