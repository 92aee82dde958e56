import type { Invocation } from './command.ts'
import { carryOut, printOne, type Row, type ServiceOptions } from './service-command.ts'
import { tableOf } from './table.ts'

const COLUMNS = ['program', 'state', 'accounts', 'slot', 'lag_slots', 'reason'] as const
const PATH = '/v1/admin/programs'

/** Lists the programs of the whitelist. */
export function listPrograms(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('admin', invocation, { method: 'GET', path: PATH }, (body) => {
    const rows = (body.data ?? []) as readonly Row[]
    return { rows, table: tableOf(COLUMNS, rows) }
  })
}

/** Adds a program to the whitelist. */
export function addProgram(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [program = ''] = invocation.operands
  return carryOut('admin', invocation, { method: 'POST', path: PATH, body: { program } }, printOne)
}

/** Removes a program from the whitelist. */
export function removeProgram(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [program = ''] = invocation.operands
  const path = `${PATH}/${encodeURIComponent(program)}`
  return carryOut('admin', invocation, { method: 'DELETE', path }, printOne)
}
