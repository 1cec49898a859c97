/** A view as data, and the code that updates the page to match it. Parts that stay the same keep their element, focus and scroll position. */

type Value = string | number | boolean | undefined;

/** One element. `props`: attributes by name; `on…` is a listener, `key` tells the element from its siblings, {@link PROPERTIES} are set as properties. */
export interface Tree {
  readonly tag: string;
  readonly props: Readonly<Record<string, Value | ((event: Event) => void)>>;
  readonly children: readonly (Tree | string)[];
}

/** A child. `false` and `undefined` are left out. */
type Child = Tree | string | false | undefined;

export const h = (tag: string, props: Tree['props'] = {}, ...children: readonly Child[]): Tree => ({
  tag,
  props,
  children: children.filter((child): child is Tree | string => child !== false && child !== undefined && child !== ''),
});

/** Names that are set as properties, because the attribute gives only the initial value. */
const PROPERTIES: readonly string[] = ['checked', 'value', 'disabled', 'readOnly', 'tabIndex'];

/** The tree that each element was last updated to. */
const shown = new WeakMap<Node, Tree>();

function setProp(element: Element, name: string, value: Tree['props'][string]): void {
  if (name === 'key') return;
  if (name.startsWith('on') || PROPERTIES.includes(name)) {
    const target = element as unknown as Record<string, unknown>;
    const wanted = name.startsWith('on') ? (value ?? null) : value;
    if (target[name] !== wanted) target[name] = wanted;
  } else if (value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

function fill(element: Element, tree: Tree): void {
  const before = shown.get(element)?.props ?? {};
  shown.set(element, tree);
  // Children first, because a select can take a value only once it has that option.
  sync(element, tree.children);
  for (const name of Object.keys(before)) if (!(name in tree.props)) setProp(element, name, undefined);
  for (const [name, value] of Object.entries(tree.props)) if (before[name] !== value || PROPERTIES.includes(name)) setProp(element, name, value);
}

/** Whether a node can be reused for `wanted`. */
function fits(node: Node, wanted: Tree | string): boolean {
  const was = shown.get(node);
  return typeof wanted === 'string'
    ? was === undefined && node.nodeType === Node.TEXT_NODE
    : was?.tag === wanted.tag && was.props['key'] === wanted.props['key'];
}

function nodeFor(parent: Node, wanted: Tree | string, left: Set<Node>): Node {
  for (const node of left) {
    if (!fits(node, wanted)) continue;
    left.delete(node);
    return node;
  }
  const { ownerDocument } = parent;
  return typeof wanted === 'string' ? (ownerDocument as Document).createTextNode('') : (ownerDocument as Document).createElement(wanted.tag);
}

/** Updates the children of `parent` to `wanted`. */
export function sync(parent: Node, wanted: readonly (Tree | string)[]): void {
  const left = new Set<Node>(parent.childNodes);
  const nodes = wanted.map((one) => nodeFor(parent, one, left));
  for (const gone of left) parent.removeChild(gone);
  nodes.forEach((node, at) => {
    const one = wanted[at] as Tree | string;
    // Move a node only if it is in the wrong place, because a move takes the focus away.
    if (parent.childNodes[at] !== node) parent.insertBefore(node, parent.childNodes[at] ?? null);
    if (typeof one !== 'string') fill(node as Element, one);
    else if (node.nodeValue !== one) node.nodeValue = one;
  });
}
