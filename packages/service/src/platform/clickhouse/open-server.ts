import { connectionProblem } from '../connection-problem.js';
import { hostUrls } from '../host-urls.js';
import { readCluster } from './cluster.js';
import { FailoverClickHouse } from './failover.js';
import { type ClickHouse, ClickHouseUnavailableError, type Cluster } from './port.js';
import { connectClickHouse } from './server.js';

export interface OpenServerOptions {
  /** `http(s)://user:password@one:8123,two:8123/database`: the replicas of a cluster, or one server */
  readonly url: string;
  /** Name of the cluster; undefined for a server without replicas. */
  readonly clusterName: string | undefined;
  /** Hosts and database, without credentials. */
  readonly place: string;
}

/**
 * Connects to a server or to the replicas of a cluster, and checks that they can be used.
 *
 * @throws ClickHouseUnavailableError with one sentence that says what is wrong
 */
export async function openClickHouseServer({
  url,
  clusterName,
  place,
}: OpenServerOptions): Promise<ClickHouse> {
  const connect = (cluster?: Cluster): ClickHouse => {
    const [first, ...others] = hostUrls(url).map((one) => connectClickHouse({ url: one, cluster }));
    if (first === undefined) throw new Error('a URL has no host');
    return others.length === 0 ? first : new FailoverClickHouse([first, ...others]);
  };
  const plain = connect();
  let cluster: Cluster | undefined;
  try {
    await checkServer(plain, place);
    cluster = await readCluster(plain, clusterName);
  } catch (error) {
    await plain.close();
    throw error;
  }
  if (cluster === undefined) return plain;
  await plain.close();
  return connect(cluster);
}

/** The meaning of errors of the server for somebody who has configured it, by their names. */
const PROBLEMS: Readonly<Record<string, string>> = {
  AUTHENTICATION_FAILED: 'the user or the password is wrong',
  UNKNOWN_DATABASE: 'the database does not exist',
};

/**
 * Checks that a server can be used.
 *
 * @param place host and database, without credentials
 * @throws ClickHouseUnavailableError with one sentence that says what is wrong
 */
async function checkServer(clickhouse: Pick<ClickHouse, 'query'>, place: string): Promise<void> {
  try {
    await clickhouse.query('SELECT 1 AS one');
  } catch (error) {
    throw new ClickHouseUnavailableError(
      `TOLLGATE_CLICKHOUSE_URL cannot be used (${place}): ${connectionProblem(error, PROBLEMS)}.`,
    );
  }
}
