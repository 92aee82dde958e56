import { h, type JSX } from 'preact'
import { useState } from 'preact/hooks'
import { callOf, type Answer } from '../../api.ts'
import type { Tree } from '../../answers.ts'
import { Age, Panel } from '../../elements.ts'
import { originsOf, Value } from '../../explain.ts'
import { count } from '../../format.ts'
import { useAnswer } from '../../use-answer.ts'

const REFETCH_MS = 1_500
/** States of a unit that does its work, or has nothing to do. */
const CALM: ReadonlySet<string> = new Set(['stable', 'running', 'waiting', 'done', 'started'])
/** Gauges of queues and of faults are shown at once; the others when a unit is opened. */
const URGENT = /queue|waiting|pending|behind|lag|dropped|failed|gaps|stalled|refused|down/

/** The supervision tree with states, restarts, queue depths and last errors. */
export function TreeSection(): JSX.Element {
  const { answer, problem, refetch } = useAnswer<Tree>(callOf('/v1/admin/tree'), REFETCH_MS)
  const [isQuiet, setIsQuiet] = useState(false)
  const units = answer === null ? [] : flat(answer.body)
  const restarts = units.reduce((sum, unit) => sum + unit.restarts, 0)
  const failing = units.filter(({ state }) => !CALM.has(state)).length
  return h(
    Panel,
    {
      title: 'Process tree',
      id: 'tree-title',
      problem,
      isLoading: answer === null,
      onRetry: refetch,
      tools: [
        h(
          'span',
          { key: 'sum', class: failing > 0 ? 'down' : 'up', role: 'status' },
          answer === null
            ? null
            : [
                sum(answer, 'state', units.length, 'units', 'Number of units of the tree.'),
                sum(answer, 'state', failing, 'not stable', CALM_RULE),
                sum(answer, 'restarts', restarts, 'restarts', 'Sum of the restarts of all units.')
              ]
        ),
        h(
          'label',
          { key: 'quiet', class: 'check' },
          h('input', { type: 'checkbox', checked: isQuiet, onChange: () => setIsQuiet(!isQuiet) }),
          'only faults'
        )
      ]
    },
    answer === null
      ? null
      : h(
          'ul',
          { class: 'tree' },
          h(UnitLine, { unit: answer.body, from: originsOf(answer), isQuiet, depth: 0 })
        )
  )
}

const CALM_RULE = `Units whose state is not one of ${[...CALM].join(', ')}.`

/** A number that this page computes from the tree. */
function sum(answer: Answer<Tree>, field: string, value: number, name: string, rule: string): JSX.Element {
  const from = originsOf(answer)(`children[].${field}`, value, { rule })
  return h(Value, { key: name, from }, `${count(value)} ${name}`)
}

const flat = (unit: Tree): Tree[] => [unit, ...unit.children.flatMap(flat)]

const isFaulty = (unit: Tree): boolean =>
  flat(unit).some(
    ({ state, restarts, last_error: error }) => !CALM.has(state) || restarts > 0 || error !== null
  )

interface UnitProps {
  readonly unit: Tree
  readonly from: ReturnType<typeof originsOf>
  readonly isQuiet: boolean
  readonly depth: number
}

function UnitLine({ unit, from, isQuiet, depth }: UnitProps): JSX.Element | null {
  const [isOpen, setIsOpen] = useState(false)
  if (isQuiet && !isFaulty(unit)) return null
  const { name, kind, state, restarts, last_error: error, gauges, started_at: started, children } = unit
  const shown = Object.entries(gauges).filter(([gauge, value]) => isOpen || (URGENT.test(gauge) && value > 0))
  return h(
    'li',
    null,
    h(
      'p',
      { class: 'unit' },
      h('span', { class: `state ${CALM.has(state) ? 'calm' : 'alarm'}`, 'aria-hidden': 'true' }),
      h(
        'button',
        { type: 'button', class: 'plain', 'aria-expanded': isOpen, onClick: () => setIsOpen(!isOpen) },
        name
      ),
      h('span', { class: CALM.has(state) ? 'quiet' : 'down' }, state),
      kind === 'supervisor' ? h('span', { class: 'venue' }, unit.strategy ?? '') : null,
      restarts > 0
        ? h(
            Value,
            { from: from('children[].restarts', restarts), class: 'down' },
            `${count(restarts)} restarts`
          )
        : null,
      started === null ? null : h('span', { class: 'quiet' }, h(Age, { ms: started })),
      shown.map(([gauge, value]) =>
        h(
          Value,
          { key: gauge, from: from('children[].gauges', value), class: 'gauge', isStop: false },
          `${gauge} ${count(value)}`
        )
      )
    ),
    error === null ? null : h('p', { class: 'problem' }, h(Age, { ms: error.at }), ` ago: ${error.message}`),
    children.length === 0
      ? null
      : h(
          'ul',
          null,
          children.map((child) =>
            h(UnitLine, { key: child.name, unit: child, from, isQuiet, depth: depth + 1 })
          )
        )
  )
}
