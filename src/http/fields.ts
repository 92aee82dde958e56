import type { FastifyReply } from 'fastify'

/** Header fields as Node writes them fastest: names and values in turn. */
export type Fields = readonly string[]

export function setFields(reply: FastifyReply, fields: Fields): void {
  for (let i = 0; i < fields.length; i += 2) void reply.header(fields[i]!, fields[i + 1]!)
}
