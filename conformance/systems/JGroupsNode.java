import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import org.jgroups.JChannel;
import org.jgroups.Message;
import org.jgroups.ReceiverAdapter;
import org.jgroups.View;

/**
 * One host of a JGroups cluster: {@code java JGroupsNode.java STACK HOST HOSTS MESSAGES PACE LOG AFTER}.
 *
 * <p>It joins when the file AFTER is there, or at once where that is "-", makes LOG.joined, and greets the group. It says
 * "ready" when all HOSTS are in the view, waits for a line, sends its messages to the group, PACE seconds apart, delivers
 * everybody's, and logs both until its stdin ends, an event a line (LogEvent in telling.py); greetings are not logged. It uses
 * JGroups alone, and nothing of this project. Views go to stderr.
 */
final class JGroupsNode extends ReceiverAdapter {
  private static final String GREETING = "hello";
  private final int hosts;
  private final FileOutputStream log;
  private final PrintStream out = System.out;
  private boolean isReady;

  private JGroupsNode(int hosts, FileOutputStream log) {
    this.hosts = hosts;
    this.log = log;
  }

  @Override
  public void receive(Message message) {
    String contents = new String(message.getBuffer(), StandardCharsets.US_ASCII);
    if (!contents.equals(GREETING)) {
      note("delivered", contents);
    }
  }

  @Override
  public synchronized void viewAccepted(View view) {
    System.err.println(System.nanoTime() + " " + view);
    if (!isReady && view.size() == hosts) {
      isReady = true;
      out.println("ready");
    }
  }

  private synchronized void note(String what, String contents) {
    String[] words = contents.split(" ");
    String line =
        "{\"what\":\"%s\",\"time_ns\":%d,\"sender\":%s,\"number\":%s,\"digest\":%d}\n"
            .formatted(what, System.nanoTime(), words[0], words[1], digest(contents));
    try {
      log.write(line.getBytes(StandardCharsets.US_ASCII));
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  /** 63 bits. */
  private static long digest(String contents) {
    try {
      byte[] whole = MessageDigest.getInstance("SHA-256").digest(contents.getBytes(StandardCharsets.US_ASCII));
      return ByteBuffer.wrap(whole).getLong() >>> 1;
    } catch (java.security.NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }

  public static void main(String[] words) throws Exception {
    int host = Integer.parseInt(words[1]);
    int messages = Integer.parseInt(words[3]);
    long paceNs = (long) (Double.parseDouble(words[4]) * 1e9);
    while (!words[6].equals("-") && !Files.exists(Path.of(words[6]))) {
      Thread.sleep(20);
    }
    JGroupsNode node = new JGroupsNode(Integer.parseInt(words[2]), new FileOutputStream(words[5]));
    System.setOut(System.err); // a stack may print its address
    JChannel channel = new JChannel(words[0]);
    channel.setReceiver(node);
    channel.connect("group");
    channel.send(new Message(null, null, GREETING.getBytes(StandardCharsets.US_ASCII)));
    Files.write(Path.of(words[5] + ".joined"), new byte[0]);
    if (System.in.read() >= 0) {
      Thread sending = new Thread(() -> node.send(channel, host, messages, paceNs));
      sending.setDaemon(true);
      sending.start();
      while (System.in.read() >= 0) {}
    }
    Runtime.getRuntime().halt(0); // it does not leave the group: the others are at their end, too
  }

  private void send(JChannel channel, int host, int messages, long paceNs) {
    long due = System.nanoTime();
    for (int number = 1; number <= messages; number++, due += paceNs) {
      for (long left; (left = due - System.nanoTime()) > 0; ) {
        java.util.concurrent.locks.LockSupport.parkNanos(left);
      }
      String contents = host + " " + number;
      note("handed", contents);
      try {
        channel.send(new Message(null, null, contents.getBytes(StandardCharsets.US_ASCII)));
      } catch (Exception error) {
        throw new IllegalStateException(error);
      }
    }
  }
}
