import type { Duplex } from 'node:stream';
import pg from 'pg';

export interface StatementWithBytes {
  /** Under which a connection keeps the statement prepared. */
  readonly name: string;
  readonly text: string;
  /** All parameters but the last. */
  readonly values: readonly unknown[];
  /** The last parameter, a bytea. It must stay as it is until the statement has ended. */
  readonly pieces: readonly Buffer[];
  /** Without an answer for so long, the statement fails; what becomes of it is then unknown. */
  readonly timeoutMs: number;
}

/** The code of a Bind message, which brings the parameters. */
const BIND = 0x42;
const EXECUTE = 0x45;
const LENGTH_AT = 1;
/** Behind the last parameter: how many formats of results there are, one, and which. */
const FORMATS_BYTES = 4;
const PARAMETER_LENGTH_BYTES = 4;

/**
 * Runs a statement whose last parameter goes to the server from where it lies. pg alone would copy it twice,
 * into memory that is made for it each time: of megabytes a second, that costs more than everything else
 * about them.
 */
export async function queryWithPieces(pool: pg.Pool, statement: StatementWithBytes): Promise<void> {
  const { name, text, values, pieces, timeoutMs } = statement;
  // `query_timeout` is a field of pg's query that its types leave out.
  const query = Object.assign(new pg.Query({ name, text, values: [...values, Buffer.of()] }), {
    query_timeout: timeoutMs,
  });
  const submit = query.submit.bind(query);
  query.submit = (connection) => {
    const stream = { value: filling(connection.stream, pieces) };
    return submit(Object.create(connection, { stream }));
  };
  // Whatever its types say, a pool answers every query with a promise.
  await (pool.query(query) as unknown as Promise<unknown>);
}

/** `stream`, with the pieces put into the empty last parameter of the Bind message that passes through. */
function filling(
  stream: Duplex,
  pieces: readonly Buffer[],
): Pick<Duplex, 'writable' | 'write' | 'cork' | 'uncork'> {
  let isFilled = false;
  return {
    get writable() {
      return stream.writable;
    },
    cork: () => stream.cork(),
    uncork: () => stream.uncork(),
    write(message: Buffer) {
      if (message[0] === EXECUTE && !isFilled) throw new Error('pg writes no Bind of its own');
      if (message[0] !== BIND) return stream.write(message);
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const end = message.length - FORMATS_BYTES;
      // Were it otherwise, nothing or something else would be stored as if it were the bytes. pg fails the
      // query with what is thrown here.
      if (message.readInt32BE(end - PARAMETER_LENGTH_BYTES) !== 0)
        throw new Error('pg writes Bind in another way');
      isFilled = true;
      message.writeInt32BE(message.readInt32BE(LENGTH_AT) + length, LENGTH_AT);
      message.writeInt32BE(length, end - PARAMETER_LENGTH_BYTES);
      stream.write(message.subarray(0, end));
      for (const piece of pieces) stream.write(piece);
      return stream.write(message.subarray(end));
    },
  };
}
