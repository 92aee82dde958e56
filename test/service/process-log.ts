import type { ServiceProcess } from './service-process.ts'

interface LogLine {
  readonly msg: string
  readonly process?: number
  readonly pid?: number
}

/** Returns every line of the log of processes that share a parent; a line that is not JSON throws. */
export const logOf = ({ stderr }: ServiceProcess): LogLine[] =>
  stderr.map((line) => JSON.parse(line) as LogLine)

/** Returns the ids of the instances of a process so far, oldest first. */
export const pidsOf = (service: ServiceProcess, number: number): number[] =>
  logOf(service)
    .filter(({ process, msg }) => process === number && msg.includes('is ready'))
    .map(({ pid }) => pid!)

/** Returns the values of a metric by process. */
export async function byProcess(service: ServiceProcess, start: string): Promise<Map<number, number>> {
  const text = String((await service.get('/metrics', null)).body['text'])
  const lines = text.split('\n').filter((line) => line.startsWith(start))
  return new Map(
    lines.map((line) => [Number(/process="(\d+)"/.exec(line)?.[1]), Number(line.split(' ').at(-1))])
  )
}
