import type { FastifyReply } from 'fastify'

/** Header fields in the form that Node writes fastest: each name followed by its value. */
export type Fields = readonly string[]

export function setFields(reply: FastifyReply, fields: Fields): void {
  for (let i = 0; i < fields.length; i += 2) void reply.header(fields[i]!, fields[i + 1]!)
}
