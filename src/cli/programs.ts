import { BadUsage, type Invocation } from './command.ts'
import { carryOut, printOne, type Row, type ServiceOptions } from './service-command.ts'
import { tableOf } from './table.ts'

const COLUMNS = ['program', 'state', 'accounts', 'slot', 'lag_slots', 'index', 'reason'] as const
const PATH = '/v1/admin/programs'

/** Lists the programs of the whitelist. */
export function listPrograms(invocation: Invocation<ServiceOptions>): Promise<number> {
  return carryOut('admin', invocation, { method: 'GET', path: PATH }, (body) => {
    const rows = (body.data ?? []) as readonly Row[]
    const shown = rows.map((row) => ({ ...row, index: indexText(row.index) }))
    return { rows, table: tableOf(COLUMNS, shown) }
  })
}

/** Adds a program to the whitelist, or changes the indexes of a listed program. */
export function addProgram(
  invocation: Invocation<ServiceOptions & { readonly index?: string | undefined }>
): Promise<number> {
  const [program = ''] = invocation.operands
  const { index } = invocation.options
  const body = index === undefined ? { program } : { program, index: rangesOf(index) }
  return carryOut('admin', invocation, { method: 'POST', path: PATH, body }, (answer) => ({
    ...printOne({ ...answer, index: indexText(answer.index) }),
    rows: [answer]
  }))
}

/** Removes a program from the whitelist. */
export function removeProgram(invocation: Invocation<ServiceOptions>): Promise<number> {
  const [program = ''] = invocation.operands
  const path = `${PATH}/${encodeURIComponent(program)}`
  return carryOut('admin', invocation, { method: 'DELETE', path }, printOne)
}

/** Reads `OFFSET:LENGTH,…`, or `none`. Throws BadUsage. */
function rangesOf(text: string): { readonly offset: number; readonly length: number }[] {
  if (text === 'none') return []
  return text.split(',').map((each) => {
    const [, offset, length] = /^(\d{1,9}):(\d{1,3})$/.exec(each) ?? []
    if (offset === undefined) throw new BadUsage(`--index must be OFFSET:LENGTH,… or none, not ${text}`)
    return { offset: Number(offset), length: Number(length) }
  })
}

/** Returns the indexes of a program in the form of `--index`, with the state of those that are being built. */
function indexText(index: unknown): string {
  const ranges = (index ?? []) as readonly {
    offset: number
    length: number
    state: string
    versions: number
  }[]
  const texts = ranges.map(({ offset, length, state, versions }) =>
    state === 'ready' ? `${offset}:${length}` : `${offset}:${length} (${state}, ${versions})`
  )
  return texts.length === 0 ? '-' : texts.join(',')
}
