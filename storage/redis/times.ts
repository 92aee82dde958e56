/**
 * Milliseconds that a closing process waits until the server has removed it. Short, because a shutdown must not hang on a
 * slow server. PRESENCE_MS makes up for a lost removal.
 */
export const FAREWELL_MS = 200
