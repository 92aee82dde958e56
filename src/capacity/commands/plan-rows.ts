import { sizeText } from '../../kernel/cli/size-text.ts'
import { SPAN_NAMES, type Plan, type ProductPlan } from '../plan.ts'

export const PLAN_COLUMNS = [
  'product',
  ...SPAN_NAMES.map((span) => `disk: ${span}`),
  'memory',
  'cores',
  ...SPAN_NAMES.map((span) => `node requests: ${span}`)
]

export const PRECISION =
  'Disk and memory are accurate to within 50 %, cores to a factor of two. Measure your own service: `millrace storage`, `/metrics`.'

/** Formats a plan as rows of a table, for people. Nothing is shown as null. */
export const planRows = ({ products, total }: Plan): Readonly<Record<string, string | null>>[] =>
  [...products, total].map(rowOf)

function rowOf({ product, diskBytes, memoryBytes, cores, nodeRequests }: ProductPlan) {
  const size = (bytes: number): string | null => (bytes === 0 ? null : sizeText(bytes))
  return {
    product,
    ...Object.fromEntries(SPAN_NAMES.map((span) => [`disk: ${span}`, size(diskBytes[span])])),
    memory: size(memoryBytes),
    cores: cores === 0 ? null : coresText(cores),
    ...Object.fromEntries(SPAN_NAMES.map((span) => [`node requests: ${span}`, countText(nodeRequests[span])]))
  }
}

/** Two digits, but all of a whole number: more would claim a precision that the figures do not have. */
const coresText = (cores: number): string =>
  cores >= 10 ? String(Math.round(cores)) : String(Number(cores.toPrecision(2)))

function countText(count: number): string | null {
  if (count === 0) return null
  return Math.round(Number(count.toPrecision(2))).toLocaleString('en-US')
}
