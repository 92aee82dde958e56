import { h } from 'preact'
import type { Answer } from './api.ts'
import type { Column } from './elements.ts'
import { originsOf, Value } from './explain.ts'
import { count } from './format.ts'

interface ValueColumn {
  readonly text?: (value: number | null) => string
  readonly isWide?: boolean
  /** Whether the keyboard reaches its values: one column of a table suffices. */
  readonly isStop?: boolean
  readonly class?: (value: number | null) => string
  /** The rule, if this page computes the number; absent if the API's document states it. */
  readonly rule?: string
}

/**
 * Returns a function that makes columns of numbers of an answer, which explain themselves. `list` is the path of the rows in the
 * answer. Rows are shown only once there is an answer.
 */
export function valueColumns<Row>(answer: Answer<unknown> | null, list = 'data[]') {
  const from = answer === null ? null : originsOf(answer)
  return <Field extends keyof Row & string>(
    name: string,
    field: Field,
    { text = count, isWide = false, isStop = false, class: classOf, rule }: ValueColumn = {}
  ): Column<Row> => ({
    name,
    isNumber: true,
    isWide,
    cell: (row) => {
      const value = row[field] as number | null
      if (from === null) return ''
      const origin = from(`${list}.${field}`, value, rule === undefined ? {} : { rule })
      return h(Value, { from: origin, isStop, class: classOf?.(value) ?? '' }, text(value))
    }
  })
}
