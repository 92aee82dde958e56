import type { Invocation } from './command.ts'
import { carryOut, printOne, type Row, type ServiceOptions } from './service-command.ts'
import { tableOf } from './table.ts'

const COLUMNS = [
  'id',
  'state',
  'cordoned',
  'behind',
  'requests',
  'errors',
  'latency_ms',
  'limit',
  'learned',
  'left',
  'reason'
] as const
const PATH = '/v1/admin/nodes'

/** Lists the nodes behind the RPC URL. */
export function listNodes(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('admin', invocation, { method: 'GET', path: PATH }, (body) => {
    const rows = (body.data ?? []) as readonly Row[]
    return { rows, table: tableOf(COLUMNS, rows.map(lineOf)) }
  })
}

/** Takes a node out of use. */
export const cordonNode = (invocation: Invocation<ServiceOptions>): Promise<number> =>
  changeNode(invocation, 'cordon')

/** Returns a cordoned node to use. */
export const freeNode = (invocation: Invocation<ServiceOptions>): Promise<number> =>
  changeNode(invocation, 'free')

function changeNode(invocation: Invocation<ServiceOptions>, change: 'cordon' | 'free'): Promise<number> {
  const [id = ''] = invocation.operands
  const path = `${PATH}/${encodeURIComponent(id)}/${change}`
  return carryOut('admin', invocation, { method: 'POST', path }, (body) => ({
    ...printOne(lineOf(body)),
    rows: [body]
  }))
}

/** Returns the fields of a node for one line of a table. */
function lineOf(row: Row): Row {
  const { limit, learned, left } = (row.budget ?? {}) as Record<string, number | null>
  const whole = (value: number | null | undefined): number | null =>
    value === null || value === undefined ? null : Math.floor(value)
  return {
    id: row.id,
    state: row.state,
    cordoned: row.cordoned_at,
    behind: row.slots_behind,
    requests: row.requests,
    errors: row.errors,
    latency_ms: row.latency_ms,
    limit,
    learned: whole(learned),
    left: whole(left),
    reason: row.reason
  }
}
