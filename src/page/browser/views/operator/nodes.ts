import { h, type JSX } from 'preact'
import { callOf } from '../../api.ts'
import type { List, RpcNode, Tree } from '../../answers.ts'
import { Panel, Table } from '../../elements.ts'
import { decimal, UNKNOWN } from '../../format.ts'
import { useAction } from '../../use-action.ts'
import { useAnswer } from '../../use-answer.ts'
import { valueColumns } from '../../value-column.ts'

const REFETCH_MS = 2_000

type SourceNode = NonNullable<Tree['source']>['nodes'][number]

const sourceOf = (unit: Tree): NonNullable<Tree['source']> | null =>
  unit.source ?? unit.children.map(sourceOf).find((found) => found !== null) ?? null

/** The source of blocks with its nodes, and the nodes behind the RPC URL. */
export function NodesSection(): JSX.Element {
  const tree = useAnswer<Tree>(callOf('/v1/admin/tree'), REFETCH_MS)
  const nodes = useAnswer<List<RpcNode>>(callOf('/v1/admin/nodes'), REFETCH_MS)
  const change = useAction<unknown>(nodes.refetch)
  const source = tree.answer === null ? null : sourceOf(tree.answer.body)
  const ofSource = valueColumns<SourceNode>(tree.answer, 'children[].source.nodes[]')
  const ofNode = valueColumns<RpcNode>(nodes.answer)
  return h(
    'div',
    { class: 'stack' },
    h(
      Panel,
      {
        title: 'Source of blocks',
        id: 'source-title',
        problem: tree.problem,
        isLoading: tree.answer === null,
        onRetry: tree.refetch,
        tools:
          source === null
            ? null
            : h('strong', { class: source.state === 'advancing' ? 'up' : 'down' }, source.state)
      },
      source === null
        ? h('p', { class: 'note' }, 'This process reads no live source.')
        : [
            source.reason === null ? null : h('p', { key: 'reason', class: 'problem' }, source.reason),
            h(Table<SourceNode>, {
              key: 'nodes',
              name: 'Nodes of the source',
              columns: [
                { name: 'Node', cell: ({ name }) => h('code', null, name) },
                {
                  name: 'State',
                  cell: ({ state }) => h('span', { class: state === 'healthy' ? 'up' : 'down' }, state)
                },
                ofSource('Slot', 'slot', { isStop: true }),
                ofSource('Behind', 'lag'),
                { name: 'Fault', cell: ({ reason }) => reason ?? '' }
              ],
              rows: source.nodes,
              keyOf: ({ name }) => name,
              empty: 'The source has no nodes.'
            })
          ]
    ),
    h(
      Panel,
      {
        title: 'Nodes behind the RPC URL',
        id: 'rpc-nodes',
        problem: nodes.problem ?? change.problem,
        isLoading: nodes.answer === null,
        onRetry: nodes.refetch
      },
      h(Table<RpcNode>, {
        name: 'Nodes behind the RPC URL',
        columns: [
          { name: 'Node', cell: ({ id }) => h('code', null, id) },
          {
            name: 'State',
            cell: ({ state, cordoned_at: cordoned }) =>
              h(
                'span',
                { class: state === 'healthy' && cordoned === null ? 'up' : 'down' },
                cordoned === null ? state : 'cordoned'
              )
          },
          ofNode('Slot', 'slot', { isStop: true }),
          ofNode('Behind', 'slots_behind'),
          ofNode('Latency', 'latency_ms', { text: (ms) => (ms === null ? UNKNOWN : `${decimal(ms)} ms`) }),
          ofNode('In flight', 'in_flight', { isWide: true }),
          ofNode('Requests', 'requests', { isWide: true }),
          ofNode('Errors', 'errors', { class: (errors) => (errors === 0 ? '' : 'down') }),
          { name: 'Reason', isWide: true, cell: ({ reason }) => reason ?? '' },
          {
            name: ' ',
            cell: ({ id, cordoned_at: cordoned }) =>
              h(
                'button',
                {
                  type: 'button',
                  disabled: change.isRunning,
                  onClick: () =>
                    change.run(
                      callOf(
                        cordoned === null ? '/v1/admin/nodes/{id}/cordon' : '/v1/admin/nodes/{id}/free',
                        { id },
                        {},
                        'POST'
                      )
                    )
                },
                cordoned === null ? 'Cordon' : 'Free'
              )
          }
        ],
        rows: nodes.answer?.body.data ?? [],
        keyOf: ({ id }) => id,
        empty: 'There is no node behind the RPC URL.'
      })
    )
  )
}
