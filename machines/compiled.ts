import type { AnyStateMachine, AnyStateNode, ContextFrom, EventFrom, SnapshotFrom } from 'xstate'

/** A machine between two events, without an actor. A nested `value` is compared by identity. */
export interface TableSnapshot<Value, Context> {
  readonly value: Value
  readonly context: Context
  readonly status: 'active' | 'done'
}

/** The transitions of a machine as a table. */
export interface MachineTable<Value, Context, Event> {
  readonly initial: TableSnapshot<Value, Context>
  /**
   * Returns the snapshot after an event; the same object if the event changes nothing. A final state ignores every event, as
   * an actor of XState does once it is done.
   */
  readonly next: (snapshot: TableSnapshot<Value, Context>, event: Event) => TableSnapshot<Value, Context>
}

type Fields = Readonly<Record<string, unknown>>
interface Scope {
  readonly context: Fields
  readonly event: { readonly type: string }
}
type Guard = (scope: Scope) => boolean
/** Returns the new values of some fields of the context. */
type Assignment = (scope: Scope) => Fields

/** A state without inner states. */
interface Leaf {
  readonly value: unknown
  readonly status: 'active' | 'done'
  /** Alternatives by event type, those of the states around it last. The first whose guard passes is taken. */
  readonly alternatives: Map<string, Transition[]>
}

interface Transition {
  readonly guard: Guard | null
  /** null if the state stays. */
  readonly target: Leaf | null
  readonly assignments: readonly Assignment[]
}

/** Fields of a state's definition that are read here, or have no effect. */
const KNOWN_FIELDS = ['id', 'type', 'context', 'initial', 'states', 'on', 'schemas']
const NO_ALTERNATIVES: readonly Transition[] = []

/**
 * Reads a machine once, and returns its transitions as a table: XState's `transition` makes an actor for each call.
 *
 * Supports nested states, final states that end the machine, and `on` with named guards and named `assign` actions, which
 * get `context` and `event` alone. Throws if the machine has anything else that changes a transition.
 *
 * Relies on these members of XState, whose version is pinned: `id`, `root`, `config` and `implementations` of a machine;
 * `config`, `id`, `type`, `path`, `parent`, `machine`, `states`, `initial` and `transitions` of a state node; `assignment` of
 * an action made by `assign`.
 */
export function compiled<M extends AnyStateMachine>(
  machine: M
): MachineTable<SnapshotFrom<M>['value'], ContextFrom<M>, EventFrom<M>> {
  const { root } = machine
  if (root.type !== 'compound') throw refusal(root, `is ${root.type}`)
  const leaves = leavesOf(root)
  for (const [node, leaf] of leaves) if (leaf.status === 'active') fill(leaf, node, leaves)
  const byValue = new Map([...leaves.values()].map((leaf) => [leaf.value, leaf]))
  const { value, status } = leaves.get(enteredAt(root))!
  const table: MachineTable<unknown, Fields, Scope['event']> = {
    initial: { value, context: contextOf(machine), status },
    next: (snapshot, event) => {
      const leaf = byValue.get(snapshot.value)
      if (leaf === undefined) throw new Error(`${root.id} has no state ${JSON.stringify(snapshot.value)}`)
      const scope = { context: snapshot.context, event }
      for (const transition of leaf.alternatives.get(event.type) ?? NO_ALTERNATIVES)
        if (transition.guard === null || transition.guard(scope)) return taken(transition, snapshot, event)
      return snapshot
    }
  }
  return table as unknown as ReturnType<typeof compiled<M>>
}

function taken(
  { target, assignments }: Transition,
  before: TableSnapshot<unknown, Fields>,
  event: Scope['event']
): TableSnapshot<unknown, Fields> {
  let { context } = before
  for (const assignment of assignments) context = withChanges(context, assignment({ context, event }))
  const { value, status } = target ?? before
  return value === before.value && context === before.context ? before : { value, context, status }
}

/** Returns a context with new values of some fields; the same object if they are the old ones. */
function withChanges(context: Fields, changes: Fields): Fields {
  for (const field of Object.keys(changes))
    if (!Object.is(changes[field], context[field])) return { ...context, ...changes }
  return context
}

/** Returns the leaves of a state, without their transitions. */
function leavesOf(node: AnyStateNode): Map<AnyStateNode, Leaf> {
  for (const field of Object.keys(node.config))
    if (!KNOWN_FIELDS.includes(field)) throw refusal(node, `has "${field}"`)
  if (node.type === 'compound') {
    if (typeof node.config.initial !== 'string') throw refusal(node, 'has an "initial" with actions')
    return new Map(Object.values<AnyStateNode>(node.states).flatMap((inner) => [...leavesOf(inner)]))
  }
  const isEnd = node.type === 'final'
  if (isEnd && node.parent !== node.machine.root) throw refusal(node, 'is final inside another state')
  if (node.type !== 'atomic' && !isEnd) throw refusal(node, `is ${node.type}`)
  const [key, ...outer] = node.path.toReversed()
  const value = outer.reduce<unknown>((inner, name) => ({ [name]: inner }), key)
  return new Map([[node, { value, status: isEnd ? 'done' : 'active', alternatives: new Map() }]])
}

/** Adds the transitions of a state and of the states around it to a leaf. */
function fill(leaf: Leaf, node: AnyStateNode, leaves: ReadonlyMap<AnyStateNode, Leaf>): void {
  for (const [type, definitions] of node.transitions) {
    if (type.endsWith('*')) throw refusal(node, `has the wildcard "${type}"`)
    const added = definitions.map(({ guard, target, actions }): Transition => {
      if (target !== undefined && target.length !== 1)
        throw refusal(node, `has ${target.length} targets of "${type}"`)
      return {
        guard: guard === undefined ? null : guardOf(node, guard),
        target: target === undefined ? null : leaves.get(enteredAt(target[0]!))!,
        assignments: actions.map((action) => assignmentOf(node, action))
      }
    })
    leaf.alternatives.set(type, [...(leaf.alternatives.get(type) ?? []), ...added])
  }
  if (node.parent !== undefined) fill(leaf, node.parent, leaves)
}

/** Returns the leaf that is entered at a state. */
function enteredAt(node: AnyStateNode): AnyStateNode {
  return node.type === 'compound' ? enteredAt(node.initial.target[0]!) : node
}

function contextOf({ config, root }: AnyStateMachine): Fields {
  const context: unknown = config.context ?? {}
  if (typeof context !== 'object') throw refusal(root, 'has a context that depends on an input')
  return context as Fields
}

function guardOf(node: AnyStateNode, name: unknown): Guard {
  const guard: unknown = typeof name === 'string' ? node.machine.implementations.guards[name] : undefined
  if (typeof guard !== 'function' || 'check' in guard)
    throw refusal(node, `has a guard that is no named function: ${JSON.stringify(name)}`)
  return guard as Guard
}

function assignmentOf(node: AnyStateNode, name: unknown): Assignment {
  const action: unknown = typeof name === 'string' ? node.machine.implementations.actions[name] : undefined
  if (typeof action !== 'function' || !('assignment' in action))
    throw refusal(node, `has an action that is no named assign: ${JSON.stringify(name)}`)
  const { assignment } = action
  if (typeof assignment === 'function') return assignment as Assignment
  const fields = Object.entries(assignment as Fields)
  return (scope) =>
    Object.fromEntries(
      fields.map(([field, given]) => [
        field,
        typeof given === 'function' ? (given as Assignment)(scope) : given
      ])
    )
}

function refusal(node: AnyStateNode, what: string): Error {
  return new Error(`machine "${node.machine.id}" cannot be a table: state "${node.id}" ${what}`)
}
